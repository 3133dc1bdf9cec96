package graphql_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/graphql-go/graphql"
)

func init() {
	var node *graphql.Object
	node = graphql.NewObject(graphql.ObjectConfig{Name: "Node", Fields: (graphql.FieldsThunk)(func() graphql.Fields {
		return graphql.Fields{
			"id": &graphql.Field{Type: graphql.Int, Resolve: func(p graphql.ResolveParams) (any, error) { return p.Source, nil }},
			"children": &graphql.Field{Type: graphql.NewList(node), Resolve: func(p graphql.ResolveParams) (any, error) {
				id := p.Source.(int)
				return []any{2 * id, 2*id + 1}, nil
			}},
		}
	})})
	query := graphql.NewObject(graphql.ObjectConfig{Name: "Query", Fields: graphql.Fields{
		"root": &graphql.Field{Type: node, Resolve: func(graphql.ResolveParams) (any, error) { return 1, nil }},
	}})
	request := "{ root { id " + strings.Repeat("children { id ", 9) + strings.Repeat("}", 9) + "}}"
	victim.Run(func(ctx context.Context) (any, error) {
		schema, err := graphql.NewSchema(graphql.SchemaConfig{Query: query})
		if err != nil {
			return nil, err
		}
		r := graphql.Do(graphql.Params{Schema: schema, RequestString: request, Context: ctx})
		if r.HasErrors() {
			return nil, fmt.Errorf("%v", r.Errors)
		}
		return r.Data, nil
	})
}

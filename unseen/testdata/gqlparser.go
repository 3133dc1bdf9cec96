package gqlparser_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

func init() {
	var types strings.Builder
	types.WriteString("type Query { first: T0 }\n")
	for i := range 300 {
		fmt.Fprintf(&types, "\"documented\"\ntype T%d { id: ID! name(n: Int = %d): String next: T%d all: [T%d!]! }\n", i, i, (i+1)%300, i*7%300)
	}
	query := "query { first { " + strings.Repeat("id name(n: 3) next { all { id } ", 100) + "id" + strings.Repeat("}", 100) + "}}"
	victim.Run(func(context.Context) (any, error) {
		schema, err := gqlparser.LoadSchema(&ast.Source{Name: "unseen", Input: types.String()})
		if err != nil {
			return nil, err
		}
		document, errs := gqlparser.LoadQuery(schema, query)
		if len(errs) > 0 {
			return nil, errs
		}
		return []int{len(schema.Types), len(document.Operations)}, nil
	})
}

package rego_test

import (
	"context"
	"fmt"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
)

func init() {
	const module = `package unseen

		allowed contains user if {
			some user, role in data.roles
			some grant in data.grants[role]
			grant.action == input.action
			regex.match(input.resource, grant.resource)
		}

		report[role] := names if {
			some role in {r | some r in data.roles}
			names := sort([u | some u, r in data.roles; r == role; not u in allowed])
		}`
	grants, roles := map[string]any{}, map[string]any{}
	for i := range 20 {
		grants[fmt.Sprint("role", i)] = []any{map[string]any{"action": "read", "resource": fmt.Sprint("file ", i)}}
	}
	for i := range 300 {
		roles[fmt.Sprint("user", i)] = fmt.Sprint("role", i%20)
	}
	store := inmem.NewFromObject(map[string]any{"grants": grants, "roles": roles})
	query := rego.New(rego.Query("data.unseen.report"), rego.Module("unseen.rego", module), rego.Store(store))
	prepared, err := query.PrepareForEval(context.Background())
	if err != nil {
		panic(err)
	}
	victim.Run(func(ctx context.Context) (any, error) {
		var all []any
		for i := range 4 {
			// waits forever for a transaction that a throw has left open
			if err := storage.WriteOne(ctx, store, storage.ReplaceOp, storage.Path{"roles"}, roles); err != nil {
				return nil, err
			}
			input := map[string]any{"action": "read", "resource": fmt.Sprintf("file 1?%d", i), "roles": roles}
			got, err := prepared.Eval(ctx, rego.EvalInput(input))
			if err != nil {
				return nil, err
			}
			all = append(all, got[0].Expressions[0].Value)
			compiled, err := rego.New(rego.Query("count(data.unseen.allowed)"), rego.Module("unseen.rego", module),
				rego.Store(store), rego.Input(input)).Eval(ctx)
			if err != nil {
				return nil, err
			}
			all = append(all, compiled[0].Expressions[0].Value)
		}
		return all, nil
	})
}

package casbin

import (
	"context"
	"fmt"

	"github.com/casbin/casbin/v2/model"
	"github.com/cocoon-go/cocoon/unseen/victim"
)

func init() {
	m, err := model.NewModelFromString("[request_definition]\nr = sub, obj, act\n[policy_definition]\np = sub, obj, act\n[role_definition]\ng = _, _\n[policy_effect]\ne = some(where (p.eft == allow))\n[matchers]\nm = g(r.sub, p.sub) && keyMatch(r.obj, p.obj) && regexMatch(r.act, p.act)\n")
	if err != nil {
		panic(err)
	}
	e, err := NewSyncedCachedEnforcer(m)
	if err != nil {
		panic(err)
	}
	for i := range 100 {
		if _, err := e.AddPolicy(fmt.Sprintf("role%d", i%10), fmt.Sprintf("/data/%d/*", i), "(GET)|(POST)"); err != nil {
			panic(err)
		}
		if _, err := e.AddGroupingPolicy(fmt.Sprintf("user%d", i), fmt.Sprintf("role%d", i%10)); err != nil {
			panic(err)
		}
	}
	victim.Run(func(context.Context) (any, error) {
		if err := e.InvalidateCache(); err != nil {
			return nil, err
		}
		allowed := 0
		for i := range 60 {
			ok, err := e.Enforce(fmt.Sprintf("user%d", i), fmt.Sprintf("/data/%d/x", (i*7)%100), "GET")
			if err != nil {
				return nil, err
			}
			if ok {
				allowed++
			}
		}
		return allowed, nil
	})
}

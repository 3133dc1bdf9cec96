package ristretto_test

import (
	"context"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/dgraph-io/ristretto/v2"
)

var unseenCache *ristretto.Cache[int, int]

func init() {
	victim.Run(func(context.Context) (any, error) {
		if unseenCache == nil {
			c, err := ristretto.NewCache(&ristretto.Config[int, int]{NumCounters: 1e5, MaxCost: 1e5, BufferItems: 64})
			if err != nil {
				return nil, err
			}
			unseenCache = c
		}
		found := 0
		for i := range 100_000 {
			if v, ok := unseenCache.Get(i % 500); ok && v == i%500 {
				found++
			}
			unseenCache.Set(i%500, i%500, 1)
		}
		unseenCache.Wait()
		v, ok := unseenCache.Get(17)
		return []any{found > 1000, v, ok}, nil
	})
}

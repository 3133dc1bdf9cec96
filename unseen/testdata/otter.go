package otter_test

import (
	"context"
	"fmt"
	"time"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/maypok86/otter/v2"
)

func init() {
	const most, keys = 2000, 5000
	cache := otter.Must(&otter.Options[int, string]{
		MaximumSize:      most,
		ExpiryCalculator: otter.ExpiryAccessing[int, string](time.Hour),
		Executor:         func(f func()) { f() }, // evictions belong to the operation
	})
	load := otter.LoaderFunc[int, string](func(_ context.Context, key int) (string, error) {
		text := ""
		for i := range 10 {
			text += fmt.Sprint(key, " ", i)
		}
		return text, nil
	})
	victim.Run(func(ctx context.Context) (any, error) {
		wrong := 0
		for i := range 10_000 {
			key := i * 7919 % keys
			if i%5 == 0 {
				cache.Invalidate(key)
			}
			v, err := cache.Get(ctx, key, load)
			if err != nil {
				return nil, err
			}
			if want, _ := load(ctx, key); v != want {
				wrong++
			}
		}
		cache.CleanUp()
		found := 0
		for range cache.All() {
			found++
		}
		// an entry that the policy has lost is never evicted
		return []any{wrong, found <= most, found == cache.EstimatedSize(), uint64(found) == cache.WeightedSize()}, nil
	})
}

package bigcache_test

import (
	"context"
	"fmt"
	"time"

	"github.com/allegro/bigcache/v3"
	"github.com/cocoon-go/cocoon/unseen/victim"
)

func init() {
	config := bigcache.DefaultConfig(time.Hour)
	config.Shards, config.Verbose, config.CleanWindow = 4, false, 0
	cache, err := bigcache.New(context.Background(), config)
	if err != nil {
		panic(err)
	}
	victim.Run(func(context.Context) (any, error) {
		for i := range 20_000 {
			key := fmt.Sprint("key ", i)
			if err := cache.Set(key, []byte(key)); err != nil {
				return nil, err
			}
		}
		found := 0
		for i := range 20_000 {
			key := fmt.Sprint("key ", i)
			if v, err := cache.Get(key); err == nil && string(v) == key {
				found++
			}
		}
		return []int{found, cache.Len()}, nil
	})
}

package redis_test

import (
	"context"
	"fmt"

	"github.com/alicebob/miniredis/v2"
	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/redis/go-redis/v9"
)

func init() {
	var client *redis.Client
	victim.Run(func(ctx context.Context) (any, error) {
		if client == nil {
			server, err := miniredis.Run()
			if err != nil {
				return nil, err
			}
			client = redis.NewClient(&redis.Options{Addr: server.Addr(), PoolSize: 4})
		}
		sum := 0
		for i := range 100 {
			key := fmt.Sprint("key ", i%10)
			if err := client.Set(ctx, key, i, 0).Err(); err != nil {
				return nil, err
			}
			n, err := client.Get(ctx, key).Int()
			if err != nil {
				return nil, err
			}
			sum += n
		}
		s := client.PoolStats()
		return []uint32{uint32(sum), s.TotalConns - s.IdleConns, s.Timeouts}, nil
	})
}

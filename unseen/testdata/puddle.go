package puddle_test

import (
	"context"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/jackc/puddle/v2"
)

func unseenUse(ctx context.Context, p *puddle.Pool[int]) (n int, err error) {
	r, err := p.Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer r.Release()
	for i := range 100 {
		n = n*31 + i
	}
	return n, nil
}

func init() {
	pool, err := puddle.NewPool(&puddle.Config[int]{MaxSize: 4, Constructor: func(context.Context) (int, error) { return 7, nil }, Destructor: func(int) {}})
	if err != nil {
		panic(err)
	}
	victim.Run(func(ctx context.Context) (any, error) {
		sum := 0
		for range 20_000 {
			n, err := unseenUse(ctx, pool)
			if err != nil {
				return nil, err
			}
			sum += n
		}
		return []any{sum, pool.Stat().AcquiredResources()}, nil
	})
}

package sqlitex_test

import (
	"context"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

func unseenCount(ctx context.Context, pool *sqlitex.Pool) (n int64, err error) {
	conn, err := pool.Take(ctx)
	if err != nil {
		return 0, err
	}
	defer pool.Put(conn)
	err = sqlitex.Execute(conn, "with recursive c(x) as (values(1) union all select x+1 from c where x < 2000) select sum(x) from c",
		&sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error { n = s.ColumnInt64(0); return nil }})
	return n, err
}

func init() {
	pool, err := sqlitex.NewPool("file:unseen?mode=memory&cache=shared", sqlitex.PoolOptions{PoolSize: 2})
	if err != nil {
		panic(err)
	}
	victim.Run(func(ctx context.Context) (any, error) {
		var sum int64
		for range 50 {
			n, err := unseenCount(ctx, pool)
			if err != nil {
				return nil, err
			}
			sum += n
		}
		return sum, nil
	})
}

package sqlitex_test

import (
	"context"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

var unseenPool *sqlitex.Pool

func unseenQuery(ctx context.Context, query string) (n int64, err error) {
	conn, err := unseenPool.Take(ctx)
	if err != nil {
		return 0, err
	}
	defer unseenPool.Put(conn)
	err = sqlitex.ExecuteTransient(conn, query, &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
		n += s.ColumnInt64(0)
		return nil
	}})
	return n, err
}

func init() {
	const query = "with recursive c(x) as (select 1 union all select x+1 from c where x < 300) select x from c"
	victim.Run(func(ctx context.Context) (any, error) {
		if unseenPool == nil {
			p, err := sqlitex.NewPool("file:unseen?mode=memory&cache=shared", sqlitex.PoolOptions{PoolSize: 2})
			if err != nil {
				return nil, err
			}
			unseenPool = p
		}
		var sum int64
		for range 50 {
			n, err := unseenQuery(ctx, query)
			if err != nil {
				return nil, err
			}
			sum += n
		}
		return sum, nil
	})
}

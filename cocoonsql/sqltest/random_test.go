package sqltest

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonsql"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestThrowsAtRandomMoments throws into transactions at random moments, also in the midst of the
// driver's calls. Each transaction is complete or rolled back, and a throw costs at most 0.1
// connections. It cost 0.31 while a throw ended the context of a running call.
func TestThrowsAtRandomMoments(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d database, dsn string) {
		rt := tasktest.Start(t, cocoon.Config{})
		_, err := rt.RegisterPolicy(cocoon.Policy{
			Name: "at", On: cocoon.Every(100 * time.Microsecond),
			Expr: `task.priority > 0 and task.elapsed > duration("1us") * task.priority ? throw("at") : continue()`,
		})
		tasktest.Must(t, err)
		db := opened(t, cocoonsql.Open, d.driver, dsn)
		db.SetMaxOpenConns(1)
		for _, q := range []string{"drop table if exists accounts", "create table accounts (id integer primary key, money integer not null)", "insert into accounts values (0, 0), (1, 0)"} {
			_, err := db.Exec(q)
			tasktest.Must(t, err)
		}
		connections := map[any]bool{}
		throws, done := 0, 0
		for throws < 200 {
			at := rand.Int32N(3000)
			err := rt.Run(cocoon.WithPriority(context.Background(), at), "transfer", func(ctx context.Context) error {
				return transfer(ctx, d, db, connections)
			})
			var throw *cocoon.PreemptedError
			switch {
			case errors.As(err, &throw):
				throws++
			case err != nil:
				t.Fatal(err)
			default:
				done++
			}
		}
		var first, second int
		tasktest.Must(t, db.QueryRow("select money from accounts where id = 0").Scan(&first))
		tasktest.Must(t, db.QueryRow("select money from accounts where id = 1").Scan(&second))
		if first+second != 0 || second < done || second > done+throws {
			t.Errorf("accounts of %d and %d after %d transfers and %d throws", first, second, done, throws)
		}
		lost := len(connections) - 1
		t.Logf("%d transfers, %d throws: %d connections lost", done, throws, lost)
		if lost > throws/10 {
			t.Errorf("%d throws have cost %d connections", throws, lost)
		}
	})
}

// begun begins a transaction, and adds its connection. release rolls back a transaction that has
// not ended.
func begun(ctx context.Context, db *sql.DB, connections map[any]bool) (tx *sql.Tx, release func(), err error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err = cocoonsql.Raw(ctx, c, func(own any) error { connections[own] = true; return nil }); err == nil {
		tx, err = c.BeginTx(ctx, nil)
	}
	if err != nil {
		return nil, nil, errors.Join(err, c.Close())
	}
	return tx, func() { tx.Rollback(); c.Close() }, nil
}

// transfer moves money between the accounts, and adds its connection.
func transfer(ctx context.Context, d database, db *sql.DB, connections map[any]bool) error {
	tx, release, err := begun(ctx, db, connections)
	if err != nil {
		return err
	}
	defer release()
	for id, change := range []int{-1, 1} {
		var money int
		if err := tx.QueryRowContext(ctx, "select money from accounts where id = "+d.parameter(1), id).Scan(&money); err != nil {
			return err
		}
		spin(ctx, 100*time.Microsecond)
		if _, err := tx.ExecContext(ctx, "update accounts set money = "+d.parameter(1)+" where id = "+d.parameter(2), money+change, id); err != nil {
			return err
		}
		spin(ctx, 100*time.Microsecond)
	}
	return tx.Commit()
}

package sqltest

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonsql"
	"github.com/cocoon-go/cocoon/cocoonsql/sqltest/recipes"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// copied is how many rows one COPY has, and beat after how many of them a task spins.
const (
	copied = 300
	beat   = 50
)

// copier copies rows with the given number into the table copies, in a transaction, and adds its
// connection.
type copier func(ctx context.Context, number int, connections map[any]bool) error

// source returns the rows of one COPY of pgx.
func source(number int) pgx.CopyFromSource {
	return pgx.CopyFromSlice(copied, func(i int) ([]any, error) { return []any{number, i}, nil })
}

// copiers are the ways to copy: the driver's own method by cocoonsql.Raw, that of a transaction of
// a pool, and the statement of lib/pq.
func copiers(t *testing.T) map[string]copier {
	dsn := postgres.address(t)
	byPgx, byPq := opened(t, cocoonsql.Open, "pgx", dsn), opened(t, cocoonsql.Open, "postgres", dsn)
	for _, db := range []*sql.DB{byPgx, byPq} {
		db.SetMaxOpenConns(1)
	}
	pool := pgxPool(t, 1)
	return map[string]copier{
		"pgx": func(ctx context.Context, number int, connections map[any]bool) error {
			c, err := byPgx.Conn(ctx)
			if err != nil {
				return err
			}
			defer c.Close()
			tx, err := c.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer tx.Rollback()
			if err := cocoonsql.Raw(ctx, c, func(own any) error {
				connections[own] = true
				_, err := own.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{"copies"}, []string{"number", "row"}, source(number))
				return err
			}); err != nil {
				return err
			}
			spin(ctx, 100*time.Microsecond)
			return tx.Commit()
		},
		"pgxpool": func(ctx context.Context, number int, connections map[any]bool) error {
			return recipes.InTx(ctx, pool, func(tx recipes.Slots) error {
				own := tx.Of.(pgx.Tx)
				connections[own.Conn()] = true
				if err := cocoon.BlockCall(ctx, func() error {
					_, err := own.CopyFrom(ctx, pgx.Identifier{"copies"}, []string{"number", "row"}, source(number))
					return err
				}); err != nil {
					return err
				}
				spin(ctx, 100*time.Microsecond)
				return nil
			})
		},
		"pq": func(ctx context.Context, number int, connections map[any]bool) error {
			tx, release, err := begun(ctx, byPq, connections)
			if err != nil {
				return err
			}
			defer release()
			rows, err := tx.PrepareContext(ctx, "copy copies (number, row) from stdin")
			if err != nil {
				return err
			}
			defer rows.Close() // it ends the COPY; the transaction is rolled back
			for i := range copied {
				if i%beat == 0 {
					spin(ctx, 100*time.Microsecond)
				}
				if _, err := rows.ExecContext(ctx, number, i); err != nil {
					return err
				}
			}
			if _, err := rows.ExecContext(ctx); err != nil {
				return err
			}
			if err := rows.Close(); err != nil {
				return err
			}
			return tx.Commit()
		},
	}
}

// TestThrowsIntoCopies throws into transactions with a COPY at random moments, also in the midst of
// the COPY. Each COPY is complete or rolled back, a throw costs at most 0.1 connections, and no
// goroutine is left.
func TestThrowsIntoCopies(t *testing.T) {
	plain, err := pgxpool.New(context.Background(), postgres.address(t))
	tasktest.Must(t, err)
	t.Cleanup(plain.Close)
	for name, fill := range copiers(t) {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			_, err := plain.Exec(ctx, "drop table if exists copies; create table copies (number integer, row integer)")
			tasktest.Must(t, err)
			rt := tasktest.Start(t, cocoon.Config{})
			_, err = rt.RegisterPolicy(cocoon.Policy{
				Name: "at", On: cocoon.Every(100 * time.Microsecond),
				Expr: `task.priority > 0 and task.elapsed > duration("1us") * task.priority ? throw("at") : continue()`,
			})
			tasktest.Must(t, err)
			connections, whole := map[any]bool{}, map[int]bool{}
			tasktest.Must(t, rt.Run(ctx, "first", func(ctx context.Context) error { return fill(ctx, -1, connections) }))
			goroutines := runtime.NumGoroutine()
			throws, number := 0, 0
			for ; throws < longtest.Count(300, 50); number++ {
				at := rand.Int32N(5000)
				err := rt.Run(cocoon.WithPriority(ctx, at), "copy", func(ctx context.Context) error {
					return fill(ctx, number, connections)
				})
				var throw *cocoon.PreemptedError
				switch {
				case errors.As(err, &throw):
					throws++
				case err != nil:
					t.Fatal(err)
				default:
					whole[number] = true
				}
			}
			rows, err := plain.Query(ctx, "select number, count(*) from copies where number >= 0 group by number")
			tasktest.Must(t, err)
			found := 0
			var of, n int
			_, err = pgx.ForEachRow(rows, []any{&of, &n}, func() error {
				if n != copied {
					t.Errorf("copy %d has %d rows of %d", of, n, copied)
				}
				if whole[of] {
					found++
				}
				return nil
			})
			tasktest.Must(t, err)
			if found != len(whole) {
				t.Errorf("%d of %d copies are there", found, len(whole))
			}
			lost := len(connections) - 1
			t.Logf("%d copies, %d throws: %d connections lost", number-throws, throws, lost)
			if lost > throws/10 {
				t.Errorf("%d throws have cost %d connections", throws, lost)
			}
			tasktest.Eventually(t, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= goroutines+lost })
		})
	}
}

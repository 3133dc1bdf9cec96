package sqltest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonsql/sqltest/recipes"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// untilAsked runs without a safe point until a throw waits for the task.
func untilAsked(ctx context.Context) {
	for begin := time.Now(); !inside.Asked(ctx) && time.Since(begin) < 10*time.Second; {
	}
}

// TestPgxBeginFuncIsWhole checks that a throw at any moment of pgx.BeginFunc leaves all statements
// of the transaction or none, that a result of nil means all, and that the task learns of the
// throw. The function ignores the error of its second statement, as code does that relies on
// PostgreSQL to refuse the commit then.
func TestPgxBeginFuncIsWhole(t *testing.T) {
	const statement = `insert into whole values ($1)`
	long := func(context.Context) { runLong() }
	pool, ctx := emptyTable(t), context.Background()
	rt := tasktest.Start(t, cocoon.Config{})
	throwAtCalls(t, rt)
	_, err := rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "limited", Limit: 2 * time.Millisecond})
	tasktest.Must(t, err)
	for _, c := range []struct {
		name, task     string
		before, after  func(ctx context.Context) // the second statement
		transaction    func(ctx context.Context, f func(tx pgx.Tx) error) error
		mayBeCommitted bool
	}{
		{name: "by a policy, at the second statement", task: "job", before: long},
		{name: "before the second statement", task: "limited", before: untilAsked},
		{name: "after the second statement", task: "limited", after: untilAsked, mayBeCommitted: true},
		{name: "in a savepoint", task: "job", before: long,
			transaction: func(ctx context.Context, f func(tx pgx.Tx) error) error {
				return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return pgx.BeginFunc(ctx, tx, f) })
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := pool.Exec(ctx, "truncate whole")
			tasktest.Must(t, err)
			if c.transaction == nil {
				c.transaction = func(ctx context.Context, f func(tx pgx.Tx) error) error {
					return pgx.BeginFunc(ctx, pool, f)
				}
			}
			made, committed := pool.Stat().NewConnsCount(), 0
			for i := range 5 {
				err := rt.Run(ctx, c.task, func(ctx context.Context) error {
					err := c.transaction(ctx, func(tx pgx.Tx) error {
						db := recipes.Slots{Of: tx}
						if _, err := db.Exec(ctx, statement, 1); err != nil {
							return err
						}
						if c.before != nil {
							c.before(ctx)
						}
						db.Exec(ctx, statement, 2)
						if c.after != nil {
							c.after(ctx)
						}
						return nil
					})
					if err == nil {
						committed++
					}
					cocoon.SafePoint(ctx)
					return err
				})
				var throw *cocoon.PreemptedError
				if !errors.As(err, &throw) {
					t.Errorf("%d: the task ended with %v; want the throw", i, err)
				}
			}
			first, second := parts(t, pool)
			if first != second || first < committed {
				t.Errorf("%d first and %d second statements are in force, of %d transactions", first, second, committed)
			}
			if committed > 0 && !c.mayBeCommitted {
				t.Errorf("%d transactions were committed without their second statement", committed)
			}
			// The machine may be so busy that a context ends.
			if lost := pool.Stat().NewConnsCount() - made; lost > 2 {
				t.Errorf("5 throws have cost %d connections", lost)
			}
		})
	}
}

// emptyTable returns a pool of one connection to a database with the empty table whole.
func emptyTable(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool := pgxPool(t, 1)
	_, err := pool.Exec(context.Background(), "drop table if exists whole; create table whole (part int)")
	tasktest.Must(t, err)
	return pool
}

// parts returns how often the first and the second statement are in force.
func parts(t *testing.T, pool *pgxpool.Pool) (first, second int) {
	t.Helper()
	const count = "select count(*) filter (where part = 1), count(*) filter (where part = 2) from whole"
	tasktest.Must(t, pool.QueryRow(context.Background(), count).Scan(&first, &second))
	return first, second
}

// TestPgxSlotsInASection checks that a transaction goes on after a throw into a section inside it:
// the code around the section gets the throw, and decides.
func TestPgxSlotsInASection(t *testing.T) {
	pool, ctx := emptyTable(t), context.Background()
	rt := tasktest.Start(t, cocoon.Config{})
	_, err := rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "part", Limit: 2 * time.Millisecond})
	tasktest.Must(t, err)
	tasktest.Must(t, rt.Run(ctx, "job", func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			db := recipes.Slots{Of: tx}
			_, thrown := cocoon.SectionContext(ctx, "part", func(ctx context.Context) (int, error) {
				untilAsked(ctx)
				_, err := db.Exec(ctx, "insert into whole values (1)")
				return 0, err
			})
			var throw *cocoon.PreemptedError
			if !errors.As(thrown, &throw) {
				t.Errorf("the section ended with %v; want the throw", thrown)
			}
			_, err := db.Exec(ctx, "insert into whole values (2)")
			return err
		})
	}))
	if first, second := parts(t, pool); first != 0 || second != 1 {
		t.Errorf("%d rows of the section and %d of the rest; want 0 and 1", first, second)
	}
}

// TestPgxInTxInASection checks that InTx does not commit while a throw into a section around it is
// pending. The function ignores the throw, which its second statement returns.
func TestPgxInTxInASection(t *testing.T) {
	pool, ctx := emptyTable(t), context.Background()
	rt := tasktest.Start(t, cocoon.Config{})
	throwAtCalls(t, rt)
	tasktest.Must(t, rt.Run(ctx, "job", func(ctx context.Context) error {
		_, thrown := cocoon.Section(ctx, "transaction", func() (int, error) {
			return 0, recipes.InTx(ctx, pool, func(tx recipes.Slots) error {
				tx.Exec(ctx, "insert into whole values (1)")
				runLong()
				tx.Exec(ctx, "insert into whole values (2)")
				return nil
			})
		})
		var throw *cocoon.PreemptedError
		if !errors.As(thrown, &throw) {
			t.Errorf("the section ended with %v; want the throw", thrown)
		}
		return nil
	}))
	if first, second := parts(t, pool); first != 0 || second != 0 {
		t.Errorf("%d first and %d second statements are in force; want none", first, second)
	}
}

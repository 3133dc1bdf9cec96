package sqltest

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonsql"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestFailuresAreThrows throws into transactions at random moments, by a policy and by Cancel.
// Nothing else makes them fail, so each failed task ends with the throw, whatever error the driver or
// database/sql made of it, and each task that ended well has committed.
func TestFailuresAreThrows(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d database, dsn string) {
		db := opened(t, cocoonsql.Open, d.driver, dsn)
		db.SetMaxOpenConns(4)
		for _, q := range []string{"drop table if exists failures", "create table failures (id integer primary key)"} {
			_, err := db.Exec(q)
			tasktest.Must(t, err)
		}
		rt := tasktest.Start(t, cocoon.Config{QuietThrows: true})
		_, err := rt.RegisterPolicy(cocoon.Policy{Name: "signal", On: cocoon.OnNotify("signal"), Expr: `task.name == "insert" ? throw("signalled") : continue()`})
		tasktest.Must(t, err)
		insert := func(ctx context.Context, id int64) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer tx.Rollback()
			if _, err := tx.ExecContext(ctx, "insert into failures values ("+d.parameter(1)+")", id); err != nil {
				return err
			}
			return tx.Commit()
		}
		var last atomic.Pointer[cocoon.Task]
		var ids, failed, done, other atomic.Int64
		var all sync.WaitGroup
		end := time.Now().Add(time.Duration(longtest.Count(20, 1)) * time.Second)
		for range 4 {
			all.Go(func() {
				for time.Now().Before(end) {
					id := ids.Add(1)
					err := rt.Run(context.Background(), "insert", func(ctx context.Context) error {
						last.Store(cocoon.TaskOf(ctx))
						return insert(ctx, id)
					})
					var throw *cocoon.PreemptedError
					switch {
					case err == nil:
						done.Add(1)
					case errors.As(err, &throw):
						failed.Add(1)
					case other.Add(1) < 5:
						t.Errorf("a task ended with %v; want the throw", err)
					}
				}
			})
		}
		for time.Now().Before(end) {
			if rt.Notify("signal", 0); last.Load() != nil {
				last.Load().Cancel()
			}
			time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
		}
		all.Wait()
		var rows int64
		tasktest.Must(t, db.QueryRow("select count(*) from failures").Scan(&rows))
		t.Logf("%d tasks committed, %d were thrown into, %d failed otherwise; %d rows", done.Load(), failed.Load(), other.Load(), rows)
		if failed.Load() == 0 || rows < done.Load() {
			t.Errorf("%d tasks were thrown into; %d committed %d rows", failed.Load(), done.Load(), rows)
		}
	})
}

// execer executes statements.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// TestIgnoredErrors checks that a throw ends a loop that ignores the errors of its statements, after
// some of them have returned the throw, and that this costs no connection.
func TestIgnoredErrors(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d database, dsn string) {
		rt := tasktest.Start(t, cocoon.Config{Slots: 1, QuietThrows: true})
		_, err := rt.RegisterPolicy(cocoon.Policy{Name: "signal", On: cocoon.OnNotify("signal"), Expr: `task.name == "job" ? throw("signalled") : continue()`})
		tasktest.Must(t, err)
		db := opened(t, cocoonsql.Open, d.driver, dsn)
		db.SetMaxOpenConns(1)
		connections := map[any]bool{}
		for name, with := range map[string]func(ctx context.Context, use func(execer) error) error{
			"database": func(_ context.Context, use func(execer) error) error { return use(db) },
			"transaction": func(ctx context.Context, use func(execer) error) error {
				tx, release, err := begun(ctx, db, connections)
				if err != nil {
					return err
				}
				defer release()
				return use(tx)
			},
		} {
			tasktest.Must(t, db.Ping()) // a loop that makes connections is not unwound
			before := db.Stats().InUse
			for slow := true; slow; { // the context ends if the loop needs 5 ms for its rounds
				slow = false
				refused := 0
				err := rt.Run(context.Background(), "job", func(ctx context.Context) error {
					return with(ctx, func(e execer) error {
						rt.Notify("signal", 0)
						for ; refused < 100 && !slow; refused++ {
							_, err := e.ExecContext(ctx, "select 1")
							slow = errors.Is(err, context.Canceled)
						}
						return nil
					})
				})
				if throw := (*cocoon.PreemptedError)(nil); !slow && (!errors.As(err, &throw) || refused != inside.Patience) {
					t.Errorf("%s: the task ended with %v after %d refused statements; want the throw after %d", name, err, refused, inside.Patience)
				}
			}
			if n := db.Stats().InUse; n != before {
				t.Errorf("%s: %d connections are in use; want %d", name, n, before)
			}
			var one int
			tasktest.Must(t, db.QueryRow("select 1").Scan(&one))
		}
	})
}

package sqltest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonsql"
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

package cocoonsql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

func open(t *testing.T, d driver.Driver) *sql.DB {
	db := sql.OpenDB(Connector(connectorOf(t, d)))
	t.Cleanup(func() { db.Close() })
	return db
}

func modern(s *server) driver.Driver { return modernDriver{legacyDriver{s}} }

// use makes each kind of driver call that waits.
func use(ctx context.Context, db *sql.DB) error {
	if err := db.PingContext(ctx); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "?", "x"); err != nil {
		return err
	}
	rows, err := db.QueryContext(ctx, "?", "x")
	if err != nil {
		return err
	}
	if err := readAll(rows); err != nil {
		return err
	}
	undone, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := undone.Rollback(); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	st, err := tx.PrepareContext(ctx, "?")
	if err != nil {
		return err
	}
	defer st.Close()
	if _, err := st.ExecContext(ctx, "x"); err != nil {
		return err
	}
	if rows, err = st.QueryContext(ctx, "x"); err != nil {
		return err
	}
	return errors.Join(readAll(rows), tx.Commit())
}

// readAll reads all result sets.
func readAll(rows *sql.Rows) error {
	defer rows.Close()
	for {
		for rows.Next() {
		}
		if !rows.NextResultSet() {
			return rows.Err()
		}
	}
}

// TestSlotIsGivenBack checks that other tasks get the slot during each call of the database.
func TestSlotIsGivenBack(t *testing.T) {
	for name := range drivers(nil) {
		t.Run(name, func(t *testing.T) {
			_, loop := tasktest.OneSlot(t)
			s := &server{}
			db := open(t, drivers(s)[name])
			s.gate = func(what string) {
				if what == "valid?" || t.Failed() {
					return // a call of the driver that does not reach the database
				}
				time.Sleep(2 * slowRow)
				// Another goroutine needs the slot of the waiting task. A task on this goroutine
				// would get this task's slot.
				ran := make(chan error, 1)
				go func() { ran <- loop.Run(context.Background(), "other", func(context.Context) error { return nil }) }()
				select {
				case err := <-ran:
					if err != nil {
						t.Error(err)
					}
				case <-time.After(20 * time.Second):
					t.Errorf("the slot was held during %q", what)
				}
			}
			if err := loop.Run(context.Background(), "query", func(ctx context.Context) error { return use(ctx, db) }); err != nil {
				t.Error(err)
			}
			s.gate = nil
		})
	}
}

// TestThrowAtEachCall checks that a throw at any call leaves nothing open: the connection returns
// to the pool, or is closed.
func TestThrowAtEachCall(t *testing.T) {
	count := func() int {
		s := &server{}
		db := open(t, modern(s))
		if err := use(context.Background(), db); err != nil {
			t.Fatal(err)
		}
		return len(s.asked)
	}()
	if count < 10 {
		t.Fatalf("the server was asked %d times only", count)
	}
	for at := range count {
		_, loop := tasktest.OneSlot(t)
		s := &server{}
		db := open(t, modern(s))
		n := 0
		var task *cocoon.Task
		s.gate = func(string) {
			if n++; n == at+1 {
				task.Cancel()
			}
		}
		err := loop.Run(context.Background(), "query", func(ctx context.Context) error {
			task = cocoon.TaskOf(ctx)
			err := use(ctx, db)
			cocoon.SafePoint(ctx)
			return err
		})
		// When its context ends, database/sql rolls a transaction back on a separate goroutine: it
		// may take a moment.
		for end := time.Now().Add(20 * time.Second); db.Stats().InUse != 0; time.Sleep(100 * time.Microsecond) {
			if time.Now().After(end) {
				t.Fatalf("thrown at call %d: %d connections are lost", at, db.Stats().InUse)
			}
		}
		if !errors.Is(err, cocoon.ErrCancelled) {
			t.Errorf("thrown at %q: %v", s.asked[min(at, len(s.asked)-1)], err)
		}
		db.Close()
		if s.open != 0 {
			t.Errorf("thrown at %q: %d things are left open: %q", s.asked[at], s.open, s.asked)
		}
	}
}

// TestThrowLosesTheConnection checks that a call whose connection is lost to a throw returns the
// throw, so that the task ends with the throw, and database/sql still gives up the connection.
func TestThrowLosesTheConnection(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	s := &server{}
	db := open(t, modern(s))
	err := rt.Run(t.Context(), "task", func(ctx context.Context) error {
		tx, err := db.BeginTx(ctx, nil)
		tasktest.Must(t, err)
		defer tx.Rollback()
		s.mu.Lock()
		s.gate = func(what string) {
			if strings.HasPrefix(what, "conn exec lose") {
				cocoon.TaskOf(ctx).Cancel()
			}
		}
		s.mu.Unlock()
		_, err = tx.ExecContext(ctx, "lose")
		if !errors.Is(err, driver.ErrBadConn) {
			t.Errorf("database/sql would keep the connection: %v", err)
		}
		return err
	})
	var p *cocoon.PreemptedError
	if !errors.As(err, &p) {
		t.Errorf("the task ended with %v; want the throw", err)
	}
}

// TestThrowEndsTheTransaction checks that a task ends with the throw if the throw has ended its
// transaction: database/sql rolls it back when the context ends, and Commit tells only that the
// transaction is over.
func TestThrowEndsTheTransaction(t *testing.T) {
	_, loop := tasktest.OneSlot(t)
	s := &server{}
	db := open(t, modern(s))
	err := loop.Run(t.Context(), "task", func(ctx context.Context) error {
		tx, err := db.BeginTx(ctx, nil)
		tasktest.Must(t, err)
		defer tx.Rollback()
		cocoon.TaskOf(ctx).Cancel()
		tasktest.Eventually(t, "the rollback", func() bool { return db.Stats().InUse == 0 })
		return tx.Commit()
	})
	var p *cocoon.PreemptedError
	if !errors.As(err, &p) || p.Returned() != sql.ErrTxDone {
		t.Errorf("the task ended with %v; want the throw, with %v inside", err, sql.ErrTxDone)
	}
}

// TestThrowBeforeCommit checks a throw into a section, which does not end the context, just before
// the commit: the transaction is complete, and the connection is clean for its next user.
func TestThrowBeforeCommit(t *testing.T) {
	rt, loop := tasktest.OneSlot(t)
	s := &server{}
	db := open(t, modern(s))
	_, err := rt.RegisterPolicy(cocoon.Policy{Name: "signal", On: cocoon.OnNotify("signal"), Expr: `task.section == "work" ? throw("signalled") : continue()`})
	if err != nil {
		t.Fatal(err)
	}
	err = loop.Run(context.Background(), "job", func(ctx context.Context) error {
		_, err := cocoon.Section(ctx, "work", func() (int, error) {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return 0, err
			}
			defer tx.Rollback()
			rt.Notify("signal", 0)
			return 0, tx.Commit()
		})
		if ctx.Err() != nil {
			t.Errorf("the context has ended: %v", ctx.Err())
		}
		return err
	})
	if err != nil {
		t.Errorf("the commit: %v", err)
	}
	if want := []string{"open name", "begin {0 false}", "commit", "valid?"}; !slices.Equal(s.asked, want) {
		t.Errorf("the server was asked %q; want %q", s.asked, want)
	}
	if free := db.Stats(); free.InUse != 0 || free.OpenConnections != 1 {
		t.Errorf("%+v", free)
	}
}

// TestDeferredCommit checks that a deferred function which commits unless its function has failed
// does not commit half of the work when a throw unwinds the function: into the task, into a
// section, or into a nested task. A transaction that clean-up begins is committed.
func TestDeferredCommit(t *testing.T) {
	for name, within := range map[string]func(loop *cocoon.Loop, ctx context.Context, transfer func(ctx context.Context) error) error{
		"task": func(_ *cocoon.Loop, ctx context.Context, transfer func(ctx context.Context) error) error {
			defer transfer(context.WithoutCancel(ctx))
			return transfer(ctx)
		},
		"section": func(_ *cocoon.Loop, ctx context.Context, transfer func(ctx context.Context) error) error {
			defer transfer(context.WithoutCancel(ctx))
			_, err := cocoon.Section(ctx, "work", func() (int, error) { return 0, transfer(ctx) })
			return err
		},
		"nested": func(loop *cocoon.Loop, ctx context.Context, transfer func(ctx context.Context) error) error {
			defer transfer(context.WithoutCancel(ctx))
			return loop.Run(ctx, "inner", func(context.Context) error { return transfer(ctx) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			rt, loop := tasktest.OneSlot(t)
			_, err := rt.RegisterPolicy(cocoon.Policy{Name: "signal", On: cocoon.OnNotify("signal"), Expr: `task.name in ["job", "inner"] ? throw("signalled") : continue()`})
			if err != nil {
				t.Fatal(err)
			}
			s := &server{}
			db := open(t, modern(s))
			times := 0
			transfer := func(ctx context.Context) (err error) {
				tx, err := db.BeginTx(ctx, nil)
				if err != nil {
					return err
				}
				defer func() {
					if err != nil {
						tx.Rollback()
						return
					}
					err = tx.Commit()
				}()
				if times++; times == 1 {
					rt.Notify("signal", 0)
					cocoon.SafePoint(ctx)
				}
				return nil
			}
			err = loop.Run(context.Background(), "job", func(ctx context.Context) error { return within(loop, ctx, transfer) })
			if p, ok := err.(*cocoon.PreemptedError); !ok || p.Policy != "signal" {
				t.Errorf("the task ends with %v", err)
			}
			var ends []string
			for _, asked := range s.asked {
				if asked == "commit" || asked == "rollback" {
					ends = append(ends, asked)
				}
			}
			if want := []string{"rollback", "commit"}; !slices.Equal(ends, want) {
				t.Errorf("the transactions end with %q, asked %q; want %q: the transfer, then the clean-up", ends, s.asked, want)
			}
		})
	}
}

// TestCleanUpWithAThrowDue checks that calls are refused while a throw is due, and that clean-up
// calls, recognized by their context, are made, even if the task returns without unwinding.
func TestCleanUpWithAThrowDue(t *testing.T) {
	_, loop := tasktest.OneSlot(t)
	s := &server{}
	db := open(t, modern(s))
	err := loop.Run(context.Background(), "job", func(ctx context.Context) error {
		defer func() {
			if _, err := db.ExecContext(context.WithoutCancel(ctx), "?", "clean"); err != nil {
				t.Errorf("the clean-up: %v", err)
			}
		}()
		c, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer c.Close()
		cocoon.TaskOf(ctx).Cancel()
		_, err = c.ExecContext(ctx, "?", "refused")
		return err
	})
	if !errors.Is(err, cocoon.ErrCancelled) && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(s.values) != 1 || s.values[0] != "clean" {
		t.Errorf("the server has %v", s.values)
	}
}

// TestQuickRowsKeepTheSlot checks that available rows are read without giving the slot back.
func TestQuickRowsKeepTheSlot(t *testing.T) {
	_, loop := tasktest.OneSlot(t)
	s := &server{}
	for i := range 1000 {
		s.values = append(s.values, int64(i))
	}
	db := open(t, modern(s))
	err := loop.Run(context.Background(), "query", func(ctx context.Context) error {
		rows, err := db.QueryContext(ctx, "all")
		if err != nil {
			return err
		}
		defer rows.Close()
		blocked := 0
		s.gate = func(what string) {
			if what == "next" && loop.Stats().Busy == 0 {
				blocked++
			}
		}
		var got []int64
		for rows.Next() {
			var v int64
			if err := rows.Scan(&v); err != nil {
				return err
			}
			got = append(got, v)
		}
		if len(got) != 1000 || !slices.IsSorted(got) {
			t.Errorf("%d rows, %v", len(got), rows.Err())
		}
		if blocked == 0 || blocked > 500 {
			t.Errorf("the slot was given back for %d rows of 1000 that were there", blocked)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestThrowDuringAQueryLeavesItsRow checks that a query which has succeeded delivers its row, though
// a policy throws before the row is read, or would throw when it is read: the database has done what
// the query asked for, and the task must learn it to undo it.
func TestThrowDuringAQueryLeavesItsRow(t *testing.T) {
	for name, on := range map[string]cocoon.Trigger{
		"after the query": cocoon.OnUnblock,
		"at the row":      cocoon.OnBlock,
	} {
		t.Run(name, func(t *testing.T) {
			rt, loop := tasktest.OneSlot(t)
			s := &server{values: []driver.Value{int64(7)}}
			db := open(t, modern(s))
			s.gate = func(what string) {
				if strings.HasPrefix(what, "conn query") {
					r, err := rt.RegisterPolicy(cocoon.Policy{Name: "signal", On: on, Expr: `throw("signalled")`})
					tasktest.Must(t, err)
					t.Cleanup(r.Cancel)
				}
			}
			err := loop.Run(t.Context(), "job", func(ctx context.Context) error {
				var v int64
				// The context ends if reading the row takes as long as a throw may wait.
				if err := db.QueryRowContext(ctx, "take").Scan(&v); ctx.Err() == nil && (err != nil || v != 7) {
					t.Errorf("the row is %d, %v", v, err)
				}
				return db.PingContext(ctx)
			})
			var p *cocoon.PreemptedError
			if !errors.As(err, &p) || p.Policy != "signal" {
				t.Errorf("the task ended with %v; want the throw", err)
			}
		})
	}
}

// TestDueThrowCostsNoConnection checks that a call that a due throw refuses does not end the
// context of its transaction: database/sql would then roll back by itself, and close the connection
// of a driver that is no driver.Validator. The context of the call may be derived from the task's.
func TestDueThrowCostsNoConnection(t *testing.T) {
	derived := map[string]func(context.Context) (context.Context, context.CancelFunc){
		"the task's": func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} },
		"with a time": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Hour)
		},
	}
	for name, use := range map[string]func(ctx context.Context, tx *sql.Tx) error{
		"exec":    func(ctx context.Context, tx *sql.Tx) error { _, err := tx.ExecContext(ctx, "?", "x"); return err },
		"prepare": func(ctx context.Context, tx *sql.Tx) error { _, err := tx.PrepareContext(ctx, "?"); return err },
		"commit":  func(_ context.Context, tx *sql.Tx) error { return tx.Commit() },
	} {
		for kind, derive := range derived {
			t.Run(name+", "+kind, func(t *testing.T) {
				rt, loop := tasktest.OneSlot(t)
				_, err := rt.RegisterPolicy(cocoon.Policy{Name: "signal", On: cocoon.OnNotify("signal"), Expr: `task.name == "job" ? throw("signalled") : continue()`})
				tasktest.Must(t, err)
				s := &server{}
				db := open(t, legacyDriver{s})
				err = loop.Run(t.Context(), "job", func(ctx context.Context) error {
					ctx, cancel := derive(ctx)
					defer cancel()
					tx, err := db.BeginTx(ctx, nil)
					if err != nil {
						return err
					}
					defer tx.Rollback()
					rt.Notify("signal", 0)
					err = use(ctx, tx)
					if ctx.Err() != nil {
						t.Error("the call has ended the context")
					}
					return err
				})
				var p *cocoon.PreemptedError
				if !errors.As(err, &p) || p.Policy != "signal" {
					t.Errorf("the task ended with %v; want the throw", err)
				}
				if want := []string{"open name", "begin", "rollback"}; !slices.Equal(s.asked, want) || db.Stats().OpenConnections != 1 {
					t.Errorf("the server was asked %q; want %q and the connection", s.asked, want)
				}
			})
		}
	}
}

package cocoonsql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/inside"
)

// BeginTx implements driver.ConnBeginTx.
func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	t := &tx{ctx: ctx, since: interrupted(ctx)}
	theirs := ctx
	if cocoon.TaskOf(ctx) != nil {
		t.lasting = last(ctx)
		theirs = t.lasting
	}
	under, err := call(ctx, func() (driver.Tx, error) {
		if b, ok := c.Conn.(driver.ConnBeginTx); ok {
			return b.BeginTx(theirs, opts)
		}
		return c.beginPlain(ctx, opts)
	})
	if err != nil {
		t.ended()
		return nil, err
	}
	if t.Tx = under; t.lasting != nil {
		t.lasting.begun.Store(true)
	}
	return t, nil
}

// beginPlain begins a transaction with a driver that does not support options, as database/sql
// does.
func (c *conn) beginPlain(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if opts.Isolation != driver.IsolationLevel(sql.LevelDefault) {
		return nil, errors.New("cocoonsql: the driver does not support isolation levels; use sql.LevelDefault")
	}
	if opts.ReadOnly {
		return nil, errors.New("cocoonsql: the driver does not support read-only transactions; leave TxOptions.ReadOnly false")
	}
	//lint:ignore SA1019 drivers from before Go 1.8 have no other
	t, err := c.Conn.Begin()
	if err == nil && ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), t.Rollback())
	}
	return t, err
}

// tx is a transaction. Its end counts as a call of the task that began it.
type tx struct {
	driver.Tx
	ctx     context.Context
	lasting *lasting // for the driver; nil without a task
	since   error    // the throw during which it began, as clean-up; or nil
}

// interrupted returns the throw that has interrupted the code of a task: it unwinds the code, or a
// call has returned it. A throw into a section does not end the context, so it refuses only the
// call for which it was made, and code that ignores the error goes on with the other calls.
func interrupted(ctx context.Context) error {
	if throw := inside.Unwinding(ctx); throw != nil {
		return throw
	}
	return inside.Returned(ctx)
}

// ended is called when the driver no longer needs its context.
func (t *tx) ended() {
	if t.lasting != nil {
		t.lasting.end()
	}
}

// Commit implements driver.Tx. If a throw is due, Commit rolls back: after a Commit, whatever it
// returned, database/sql assumes that the transaction on the connection has ended. It also rolls
// back if a throw has interrupted the code that began the transaction: a deferred function that
// commits unless its function has failed sees no error, and code that ignores the error of a
// statement goes on. Both would commit half of the work.
func (t *tx) Commit() error {
	if throw := interrupted(t.ctx); throw != nil && throw != t.since {
		return errors.Join(throw, t.Rollback())
	}
	called := false
	_, err := call(t.ctx, func() (struct{}, error) {
		called = true
		return struct{}{}, t.Tx.Commit()
	})
	if !called {
		return errors.Join(err, t.Rollback())
	}
	t.ended()
	return err
}

// Rollback implements driver.Tx. The driver's Rollback is always called: a due throw does not keep
// a transaction open.
func (t *tx) Rollback() error {
	defer t.ended()
	return release(t.ctx, t.Tx.Rollback)
}

// release makes a call that returns something to the database. A throw must not prevent such a
// call.
func release(ctx context.Context, fn func() error) error { return inside.CallAnyway(ctx, fn) }

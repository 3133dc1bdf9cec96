package recipes

import (
	"context"
	"errors"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Querier is what pgx.Conn, pgx.Tx, pgxpool.Pool and pgxpool.Conn have in common.
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Slots gives a task's slot back during the calls of a Querier, including the wait for a connection
// of a pool. If a throw into the task makes a call of a pgx.Tx fail, Slots rolls the transaction
// back, as PostgreSQL does after a failed statement. Otherwise code that ignores the error could
// commit the rest.
type Slots struct{ Of Querier }

func (s Slots) call(ctx context.Context, fn func() error) error {
	err := cocoon.BlockCall(ctx, fn)
	var throw *cocoon.PreemptedError
	failed := errors.As(err, &throw) || err != nil && ctx.Err() != nil
	if tx, ok := s.Of.(pgx.Tx); ok && failed && cocoon.Thrown(ctx) != nil {
		ctx := context.WithoutCancel(ctx)
		cocoon.BlockCall(ctx, func() error { return tx.Rollback(ctx) })
	}
	return err
}

func (s Slots) Exec(ctx context.Context, sql string, args ...any) (tag pgconn.CommandTag, err error) {
	err = s.call(ctx, func() error {
		tag, err = s.Of.Exec(ctx, sql, args...)
		return err
	})
	return tag, err
}

// Query gives the slot back until the first rows arrive. If many rows arrive slowly, read them
// inside a BlockCall too.
func (s Slots) Query(ctx context.Context, sql string, args ...any) (rows pgx.Rows, err error) {
	err = s.call(ctx, func() error {
		rows, err = s.Of.Query(ctx, sql, args...)
		return err
	})
	return rows, err
}

func (s Slots) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return row{ctx, s, sql, args}
}

// row sends the query when it is scanned, so that the query is one call.
type row struct {
	ctx  context.Context
	in   Slots
	sql  string
	args []any
}

func (r row) Scan(dest ...any) error {
	return r.in.call(r.ctx, func() error { return r.in.Of.QueryRow(r.ctx, r.sql, r.args...).Scan(dest...) })
}

// InTx calls f in a transaction of the pool or connection, or in a savepoint of a pgx.Tx, and
// commits if f returns nil. A throw in f rolls back to where InTx began, and costs no connection.
// If a throw is pending, or ctx has ended, InTx does not commit; a commit that has begun is not cut
// short.
func InTx(ctx context.Context, db interface {
	Begin(context.Context) (pgx.Tx, error)
}, f func(tx Slots) error) error {
	var tx pgx.Tx
	err := cocoon.BlockCall(ctx, func() (err error) {
		tx, err = db.Begin(ctx)
		return err
	})
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) // even if ctx has ended
	if err := f(Slots{tx}); err != nil {
		return err
	}
	return cocoon.Block(ctx, func() error { // a safe point: a pending throw rolls back
		if ctx.Err() != nil { // pgx would neither release nor roll back a savepoint, and close a connection
			return context.Cause(ctx)
		}
		return tx.Commit(context.WithoutCancel(ctx))
	})
}

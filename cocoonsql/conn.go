package cocoonsql

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/cocoon-go/cocoon/internal/inside"
)

// conn is a connection. It implements the optional interfaces of a driver. Where the driver lacks
// one, conn returns what database/sql treats as its absence, so that the wrapper neither hides nor
// adds a feature. Interfaces that change database/sql's behavior by their mere presence are
// separate types: see variants.go.
type conn struct{ driver.Conn }

// Unwrap returns the driver's own connection, see Raw.
func (c *conn) Unwrap() driver.Conn { return c.Conn }

// Ping implements driver.Pinger.
func (c *conn) Ping(ctx context.Context) error {
	p, ok := c.Conn.(driver.Pinger)
	if !ok {
		return nil
	}
	return inside.CallOrThrow(ctx, func() error { return p.Ping(ctx) })
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	under, err := call(ctx, func() (driver.Stmt, error) {
		if p, ok := c.Conn.(driver.ConnPrepareContext); ok {
			return p.PrepareContext(ctx, query)
		}
		s, err := c.Conn.Prepare(query)
		if err == nil && ctx.Err() != nil {
			return nil, errors.Join(ctx.Err(), s.Close())
		}
		return s, err
	})
	if err != nil {
		return nil, err
	}
	return wrapStmt(ctx, c.Conn, under), nil
}

// Prepare implements driver.Conn.
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// exec is the only call that a throw may unwind, if the task ignores errors: database/sql releases
// the connection by defer here, and not for queries.
func (c *conn) exec(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	result, err := c.execute(ctx, query, args)
	return result, inside.Insist(ctx, err)
}

func (c *conn) execute(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if e, ok := c.Conn.(driver.ExecerContext); ok {
		return call(ctx, func() (driver.Result, error) { return e.ExecContext(ctx, query, args) })
	}
	values, err := positional(ctx, args)
	if err != nil {
		return nil, err
	}
	//lint:ignore SA1019 drivers from before Go 1.8 have it
	return call(ctx, func() (driver.Result, error) { return c.Conn.(driver.Execer).Exec(query, values) })
}

func (c *conn) query(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if q, ok := c.Conn.(driver.QueryerContext); ok {
		return queried(ctx, func() (driver.Rows, error) { return q.QueryContext(ctx, query, args) })
	}
	values, err := positional(ctx, args)
	if err != nil {
		return nil, err
	}
	//lint:ignore SA1019 drivers from before Go 1.8 have it
	return queried(ctx, func() (driver.Rows, error) { return c.Conn.(driver.Queryer).Query(query, values) })
}

// CheckNamedValue implements driver.NamedValueChecker. driver.ErrSkip makes database/sql convert
// the value itself.
func (c *conn) CheckNamedValue(v *driver.NamedValue) error { return checkValue(c.Conn, v) }

func checkValue(by any, v *driver.NamedValue) error {
	if checker, ok := by.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

package cocoonsql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/inside"
)

// Open is sql.Open with the named driver wrapped.
func Open(driverName, dataSourceName string) (*sql.DB, error) {
	db, err := sql.Open(driverName, dataSourceName)
	if err != nil {
		return nil, err
	}
	d := db.Driver()
	if err := db.Close(); err != nil {
		return nil, err
	}
	var c driver.Connector = named{d, dataSourceName}
	if with, ok := d.(driver.DriverContext); ok {
		if c, err = with.OpenConnector(dataSourceName); err != nil {
			return nil, err
		}
	}
	return sql.OpenDB(Connector(c)), nil
}

// named is a connector for a driver that makes no connectors.
type named struct {
	driver driver.Driver
	name   string
}

func (n named) Connect(context.Context) (driver.Conn, error) { return n.driver.Open(n.name) }
func (n named) Driver() driver.Driver                        { return n.driver }

// Connector wraps a connector, for sql.OpenDB. Its Driver method returns the driver of c. It panics
// if c is nil.
func Connector(c driver.Connector) driver.Connector {
	if c == nil {
		panic("cocoonsql: Connector: the connector is nil; want that of a driver")
	}
	return connector{c}
}

type connector struct{ driver.Connector }

// Connect implements driver.Connector.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	under, err := call(ctx, func() (driver.Conn, error) { return c.Connector.Connect(ctx) })
	if err != nil {
		return nil, err
	}
	return wrapConn(under), nil
}

// Close implements io.Closer, which sql.DB.Close looks for.
func (c connector) Close() error {
	if closer, ok := c.Connector.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

// call makes a call of the driver while the task gives its slot back. If a throw is due, or has
// ended ctx, call returns the throw instead, because some drivers close a connection on a call with
// an ended context.
func call[T any](ctx context.Context, fn func() (T, error)) (result T, err error) {
	err = inside.CallOrThrow(ctx, func() (err error) {
		if err := thrown(ctx); err != nil {
			return err
		}
		result, err = fn()
		return lost(ctx, err)
	})
	return result, err
}

// lost adds the throw that has ended ctx to driver.ErrBadConn. Drivers return this error for a call
// with an ended context, too. database/sql still finds driver.ErrBadConn in the result, and the
// caller learns that the database is not to blame.
func lost(ctx context.Context, err error) error {
	if errors.Is(err, driver.ErrBadConn) {
		if p := thrown(ctx); p != nil {
			return fmt.Errorf("%w: %w", p, err)
		}
	}
	return err
}

// thrown returns the throw that has ended ctx, or nil.
func thrown(ctx context.Context) error {
	var p *cocoon.PreemptedError
	if ctx.Err() != nil && errors.As(context.Cause(ctx), &p) {
		return p
	}
	return nil
}

// errNamed is the error that database/sql returns for drivers without named parameters.
var errNamed = errors.New("cocoonsql: the driver does not support named parameters; pass them by position")

// positional returns the values for driver interfaces without names and contexts, unless ctx has
// ended.
func positional(ctx context.Context, args []driver.NamedValue) ([]driver.Value, error) {
	values := make([]driver.Value, len(args))
	for i, a := range args {
		if a.Name != "" {
			return nil, errNamed
		}
		values[i] = a.Value
	}
	return values, ctx.Err()
}

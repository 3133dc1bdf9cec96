package cocoonsql

import (
	"context"
	"database/sql/driver"
)

// A wrapper must not implement four interfaces for a driver that lacks them, because database/sql
// decides by their presence and not by what a call returns:
//
//   - ExecerContext and QueryerContext: database/sql converts the arguments earlier, without
//     knowing the statement;
//   - SessionResetter and Validator: if a transaction is rolled back because its context has ended,
//     database/sql keeps a connection that has both, and closes any other.
//
// So each combination is a separate type. The parts hold the connection and do not embed it,
// because it would be embedded twice.
type (
	execs     struct{ of *conn }
	queries   struct{ of *conn }
	resets    struct{ of driver.SessionResetter }
	validates struct{ of driver.Validator }
)

// ExecContext implements driver.ExecerContext.
func (e execs) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return e.of.exec(ctx, query, args)
}

// QueryContext implements driver.QueryerContext.
func (q queries) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return q.of.query(ctx, query, args)
}

// ResetSession implements driver.SessionResetter.
func (r resets) ResetSession(ctx context.Context) error {
	// Or the next task would find this task's session state.
	return release(ctx, func() error { return r.of.ResetSession(ctx) })
}

// IsValid implements driver.Validator.
func (v validates) IsValid() bool { return v.of.IsValid() }

func wrapConn(under driver.Conn) driver.Conn {
	_, executes := under.(driver.ExecerContext)
	//lint:ignore SA1019 drivers from before Go 1.8 have it
	_, executed := under.(driver.Execer)
	_, asks := under.(driver.QueryerContext)
	//lint:ignore SA1019 drivers from before Go 1.8 have it
	_, asked := under.(driver.Queryer)
	reset, hasReset := under.(driver.SessionResetter)
	valid, hasValid := under.(driver.Validator)
	c := &conn{under}
	e, q, r, v := execs{c}, queries{c}, resets{reset}, validates{valid}
	if executes || executed {
		return withExec(c, e, q, r, v, asks || asked, hasReset, hasValid)
	}
	return withoutExec(c, q, r, v, asks || asked, hasReset, hasValid)
}

func withExec(c *conn, e execs, q queries, r resets, v validates, asks, hasReset, hasValid bool) driver.Conn {
	switch {
	case asks && hasReset && hasValid:
		return struct {
			*conn
			execs
			queries
			resets
			validates
		}{c, e, q, r, v}
	case asks && hasReset:
		return struct {
			*conn
			execs
			queries
			resets
		}{c, e, q, r}
	case asks && hasValid:
		return struct {
			*conn
			execs
			queries
			validates
		}{c, e, q, v}
	case asks:
		return struct {
			*conn
			execs
			queries
		}{c, e, q}
	case hasReset && hasValid:
		return struct {
			*conn
			execs
			resets
			validates
		}{c, e, r, v}
	case hasReset:
		return struct {
			*conn
			execs
			resets
		}{c, e, r}
	case hasValid:
		return struct {
			*conn
			execs
			validates
		}{c, e, v}
	}
	return struct {
		*conn
		execs
	}{c, e}
}

func withoutExec(c *conn, q queries, r resets, v validates, asks, hasReset, hasValid bool) driver.Conn {
	switch {
	case asks && hasReset && hasValid:
		return struct {
			*conn
			queries
			resets
			validates
		}{c, q, r, v}
	case asks && hasReset:
		return struct {
			*conn
			queries
			resets
		}{c, q, r}
	case asks && hasValid:
		return struct {
			*conn
			queries
			validates
		}{c, q, v}
	case asks:
		return struct {
			*conn
			queries
		}{c, q}
	case hasReset && hasValid:
		return struct {
			*conn
			resets
			validates
		}{c, r, v}
	case hasReset:
		return struct {
			*conn
			resets
		}{c, r}
	case hasValid:
		return struct {
			*conn
			validates
		}{c, v}
	}
	return c
}

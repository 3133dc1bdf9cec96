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

// parts are what the variants consist of.
type parts struct {
	c *conn
	e execs
	q queries
	r resets
	v validates

	hasReset, hasValid bool
}

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
	p := parts{c, execs{c}, queries{c}, resets{reset}, validates{valid}, hasReset, hasValid}
	switch {
	case (executes || executed) && (asks || asked):
		return p.withBoth()
	case executes || executed:
		return p.withExecs()
	case asks || asked:
		return p.withQueries()
	}
	return p.withNeither()
}

func (p parts) withBoth() driver.Conn {
	switch {
	case p.hasReset && p.hasValid:
		return struct {
			*conn
			execs
			queries
			resets
			validates
		}{p.c, p.e, p.q, p.r, p.v}
	case p.hasReset:
		return struct {
			*conn
			execs
			queries
			resets
		}{p.c, p.e, p.q, p.r}
	case p.hasValid:
		return struct {
			*conn
			execs
			queries
			validates
		}{p.c, p.e, p.q, p.v}
	}
	return struct {
		*conn
		execs
		queries
	}{p.c, p.e, p.q}
}

func (p parts) withExecs() driver.Conn {
	switch {
	case p.hasReset && p.hasValid:
		return struct {
			*conn
			execs
			resets
			validates
		}{p.c, p.e, p.r, p.v}
	case p.hasReset:
		return struct {
			*conn
			execs
			resets
		}{p.c, p.e, p.r}
	case p.hasValid:
		return struct {
			*conn
			execs
			validates
		}{p.c, p.e, p.v}
	}
	return struct {
		*conn
		execs
	}{p.c, p.e}
}

func (p parts) withQueries() driver.Conn {
	switch {
	case p.hasReset && p.hasValid:
		return struct {
			*conn
			queries
			resets
			validates
		}{p.c, p.q, p.r, p.v}
	case p.hasReset:
		return struct {
			*conn
			queries
			resets
		}{p.c, p.q, p.r}
	case p.hasValid:
		return struct {
			*conn
			queries
			validates
		}{p.c, p.q, p.v}
	}
	return struct {
		*conn
		queries
	}{p.c, p.q}
}

func (p parts) withNeither() driver.Conn {
	switch {
	case p.hasReset && p.hasValid:
		return struct {
			*conn
			resets
			validates
		}{p.c, p.r, p.v}
	case p.hasReset:
		return struct {
			*conn
			resets
		}{p.c, p.r}
	case p.hasValid:
		return struct {
			*conn
			validates
		}{p.c, p.v}
	}
	return p.c
}

package cocoonsql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// server is a database that keeps a list of values, and a record of its requests. Each request
// passes gate, in which a test may delay it.
type server struct {
	mu     sync.Mutex
	values []driver.Value
	asked  []string
	open   int // open connections, statements, transactions and rows
	gate   func(what string)
}

func (s *server) ask(what string, open int) {
	s.mu.Lock()
	s.asked = append(s.asked, what)
	s.open += open
	gate := s.gate
	s.mu.Unlock()
	if gate != nil {
		gate(what)
	}
}

func (s *server) exec(args []any) driver.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range args {
		s.values = append(s.values, a)
	}
	return driver.RowsAffected(len(args))
}

var errRefused = errors.New("refused by the server")

// legacyDriver implements only the required interfaces; modernDriver implements all optional ones.
type legacyDriver struct{ *server }
type modernDriver struct{ legacyDriver }

func (d legacyDriver) Open(name string) (driver.Conn, error) {
	if name == "refused" {
		return nil, errRefused
	}
	d.ask("open "+name, 1)
	return &legacyConn{d.server}, nil
}

func (d modernDriver) OpenConnector(name string) (driver.Connector, error) {
	if name == "bad" {
		return nil, errRefused
	}
	return &modernConnector{d, name}, nil
}

type modernConnector struct {
	driver modernDriver
	name   string
}

func (c *modernConnector) Driver() driver.Driver { return c.driver }
func (c *modernConnector) Close() error          { c.driver.ask("close connector", 0); return nil }
func (c *modernConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if _, err := c.driver.Open(c.name); err != nil {
		return nil, err
	}
	return &modernConn{legacyConn{c.driver.server}}, nil
}

type legacyConn struct{ *server }

func (c *legacyConn) Close() error { c.ask("close conn", -1); return nil }
func (c *legacyConn) Begin() (driver.Tx, error) {
	c.ask("begin", 1)
	return &testTx{c.server}, nil
}
func (c *legacyConn) Prepare(query string) (driver.Stmt, error) {
	if query == "refused" {
		return nil, errRefused
	}
	c.ask("prepare "+query, 1)
	return &legacyStmt{c.server, query}, nil
}

type testTx struct{ *server }

func (t *testTx) Commit() error   { t.ask("commit", -1); return nil }
func (t *testTx) Rollback() error { t.ask("rollback", -1); return nil }

type legacyStmt struct {
	*server
	query string
}

func (s *legacyStmt) Close() error  { s.ask("close stmt", -1); return nil }
func (s *legacyStmt) NumInput() int { return -1 }
func (s *legacyStmt) Exec(args []driver.Value) (driver.Result, error) {
	s.ask(fmt.Sprint("exec ", s.query, args), 0)
	return s.exec(anys(args)), nil
}
func (s *legacyStmt) Query(args []driver.Value) (driver.Rows, error) {
	s.ask(fmt.Sprint("query ", s.query, args), 1)
	return &legacyRows{server: s.server, left: slices.Clone(s.values)}, nil
}

func anys(args []driver.Value) (all []any) {
	for _, a := range args {
		all = append(all, a)
	}
	return all
}

type legacyRows struct {
	*server
	left []driver.Value
}

func (r *legacyRows) Columns() []string { return []string{"value"} }
func (r *legacyRows) Close() error      { r.ask("close rows", -1); return nil }
func (r *legacyRows) Next(row []driver.Value) error {
	if len(r.left) == 0 {
		return io.EOF
	}
	r.ask("next", 0)
	row[0], r.left = r.left[0], r.left[1:]
	return nil
}

// middleDriver is a driver from the time of Go 1.7: shortcuts without contexts, and statements that
// convert columns.
type middleDriver struct{ legacyDriver }
type middleConn struct{ legacyConn }
type middleStmt struct{ legacyStmt }

func (d middleDriver) Open(name string) (driver.Conn, error) {
	if _, err := d.legacyDriver.Open(name); err != nil {
		return nil, err
	}
	return &middleConn{legacyConn{d.server}}, nil
}
func (c *middleConn) Exec(query string, args []driver.Value) (driver.Result, error) {
	c.ask(fmt.Sprint("conn exec ", query, args), 0)
	return c.exec(anys(args)), nil
}
func (c *middleConn) Query(query string, args []driver.Value) (driver.Rows, error) {
	c.ask(fmt.Sprint("conn query ", query, args), 1)
	return &legacyRows{server: c.server, left: slices.Clone(c.values)}, nil
}
func (c *middleConn) Prepare(query string) (driver.Stmt, error) {
	if _, err := c.legacyConn.Prepare(query); err != nil {
		return nil, err
	}
	return &middleStmt{legacyStmt{c.server, query}}, nil
}
func (s *middleStmt) NumInput() int                               { return strings.Count(s.query, "?") }
func (s *middleStmt) ColumnConverter(i int) driver.ValueConverter { return shouting{} }

// shouting converts strings to upper case.
type shouting struct{}

func (shouting) ConvertValue(v any) (driver.Value, error) {
	if s, ok := v.(string); ok {
		return strings.ToUpper(s), nil
	}
	return driver.DefaultParameterConverter.ConvertValue(v)
}

type modernConn struct{ legacyConn }

func (c *modernConn) Ping(ctx context.Context) error { c.ask("ping", 0); return nil }
func (c *modernConn) ResetSession(ctx context.Context) error {
	c.ask("reset", 0)
	return nil
}
func (c *modernConn) IsValid() bool { c.ask("valid?", 0); return true }
func (c *modernConn) CheckNamedValue(v *driver.NamedValue) error {
	switch x := v.Value.(type) {
	case point:
		v.Value = fmt.Sprint("point ", x.x, x.y)
		return nil
	case remove:
		return driver.ErrRemoveArgument
	}
	return driver.ErrSkip
}
func (c *modernConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	c.ask(fmt.Sprint("begin ", o), 1)
	if err := ctx.Err(); err != nil {
		c.ask("undo", -1)
		return nil, err
	}
	return &testTx{c.server}, nil
}
func (c *modernConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.ask("prepare "+query, 1)
	if err := ctx.Err(); err != nil {
		c.ask("undo", -1)
		return nil, err
	}
	return &modernStmt{legacyStmt{c.server, query}}, nil
}
func (c *modernConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if query == "skip" {
		return nil, driver.ErrSkip
	}
	c.ask(fmt.Sprint("conn exec ", query, args), 0)
	if query == "lose" && ctx.Err() != nil {
		return nil, driver.ErrBadConn
	}
	return c.exec(valuesOf(args)), ctx.Err()
}
func (c *modernConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if query == "skip" {
		return nil, driver.ErrSkip
	}
	c.ask(fmt.Sprint("conn query ", query, args), 1)
	return rowsOf(ctx, c.server, 1)
}

func valuesOf(args []driver.NamedValue) (all []any) {
	for _, a := range args {
		all = append(all, a.Value)
	}
	return all
}

// point is a type that only the driver knows; remove tells the driver to remove an argument.
type point struct{ x, y int }
type remove struct{}

type modernStmt struct{ legacyStmt }

func (s *modernStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.ask(fmt.Sprint("stmt exec ", s.query, args), 0)
	return s.exec(valuesOf(args)), ctx.Err()
}
func (s *modernStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.ask(fmt.Sprint("stmt query ", s.query, args), 1)
	return rowsOf(ctx, s.server, 0)
}

func rowsOf(ctx context.Context, s *server, more int) (driver.Rows, error) {
	if err := ctx.Err(); err != nil {
		s.ask("undo", -1)
		return nil, err
	}
	return &modernRows{legacyRows: legacyRows{server: s, left: slices.Clone(s.values)}, more: more}, nil
}

type modernRows struct {
	legacyRows
	more int // result sets
}

func (r *modernRows) HasNextResultSet() bool { return r.more > 0 }
func (r *modernRows) NextResultSet() error {
	if r.more == 0 {
		return io.EOF
	}
	r.ask("next set", 0)
	r.more, r.left = r.more-1, []driver.Value{"of the next set"}
	return nil
}
func (r *modernRows) ColumnTypeScanType(int) reflect.Type               { return reflect.TypeFor[point]() }
func (r *modernRows) ColumnTypeDatabaseTypeName(int) string             { return "POINT" }
func (r *modernRows) ColumnTypeLength(int) (int64, bool)                { return 7, true }
func (r *modernRows) ColumnTypeNullable(int) (bool, bool)               { return true, true }
func (r *modernRows) ColumnTypePrecisionScale(int) (int64, int64, bool) { return 3, 4, true }

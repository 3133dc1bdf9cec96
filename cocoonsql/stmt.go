package cocoonsql

import (
	"context"
	"database/sql/driver"
)

// stmt is a prepared statement.
type stmt struct {
	driver.Stmt
	conn driver.Conn     // the driver's
	ctx  context.Context // the context that prepared it
}

// converting is a statement of a driver that has a driver.ColumnConverter. It is a separate type,
// because an implementation of that interface cannot decline.
type converting struct {
	stmt
	converter columnConverter
}

//lint:ignore SA1019 drivers from before Go 1.9 have it
type columnConverter = driver.ColumnConverter

// ColumnConverter implements driver.ColumnConverter.
func (c *converting) ColumnConverter(i int) driver.ValueConverter {
	return c.converter.ColumnConverter(i)
}

func wrapStmt(ctx context.Context, c driver.Conn, under driver.Stmt) driver.Stmt {
	s := stmt{under, c, ctx}
	if converter, ok := under.(columnConverter); ok {
		return &converting{s, converter}
	}
	return &s
}

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if e, ok := s.Stmt.(driver.StmtExecContext); ok {
		return call(ctx, func() (driver.Result, error) { return e.ExecContext(ctx, args) })
	}
	values, err := positional(ctx, args)
	if err != nil {
		return nil, err
	}
	//lint:ignore SA1019 drivers from before Go 1.8 have no other
	return call(ctx, func() (driver.Result, error) { return s.Stmt.Exec(values) })
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if q, ok := s.Stmt.(driver.StmtQueryContext); ok {
		return queried(ctx, func() (driver.Rows, error) { return q.QueryContext(ctx, args) })
	}
	values, err := positional(ctx, args)
	if err != nil {
		return nil, err
	}
	//lint:ignore SA1019 drivers from before Go 1.8 have no other
	return queried(ctx, func() (driver.Rows, error) { return s.Stmt.Query(values) })
}

// CheckNamedValue implements driver.NamedValueChecker with the checker of the statement, or else of
// its connection.
func (s *stmt) CheckNamedValue(v *driver.NamedValue) error {
	if _, ok := s.Stmt.(driver.NamedValueChecker); ok {
		return checkValue(s.Stmt, v)
	}
	return checkValue(s.conn, v)
}

// Close implements driver.Stmt.
func (s *stmt) Close() error { return release(s.ctx, s.Stmt.Close) }

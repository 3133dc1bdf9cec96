package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"time"
)

// database has one connection, which must not get lost when the driver is in the midst of a query.
func database() engine {
	db := sql.OpenDB(slow{})
	db.SetMaxOpenConns(1)
	query := func(ctx context.Context) (n int64, err error) {
		err = db.QueryRowContext(ctx, "slow").Scan(&n)
		return n, err
	}
	return engine{
		"database/sql",
		func() error {
			for {
				if _, err := query(context.Background()); err != nil {
					return err
				}
			}
		},
		func() error {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			n, err := query(ctx)
			return errors.Join(err, equal(n, 1), equal(db.Stats().OpenConnections, 1))
		},
	}
}

// slow is a driver, its connections, and the answers to queries: it works on each for longer than a task may run.
type slow struct{}

func (slow) Connect(context.Context) (driver.Conn, error) { return slow{}, nil }
func (slow) Driver() driver.Driver                        { return slow{} }
func (slow) Open(string) (driver.Conn, error)             { return slow{}, nil }
func (slow) Prepare(string) (driver.Stmt, error)          { return nil, errors.ErrUnsupported }
func (slow) Begin() (driver.Tx, error)                    { return nil, errors.ErrUnsupported }
func (slow) Close() error                                 { return nil }

func (slow) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	for begin := time.Now(); time.Since(begin) < 20*time.Millisecond; {
	}
	return &oneRow{}, nil
}

// oneRow is an answer of one number.
type oneRow struct{ read bool }

func (*oneRow) Columns() []string { return []string{"n"} }
func (*oneRow) Close() error      { return nil }

func (r *oneRow) Next(row []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read, row[0] = true, int64(1)
	return nil
}

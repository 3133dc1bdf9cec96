package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net/http"
	"time"
)

// queryDatabase is a handler that queries a database with few connections.
func queryDatabase(wait around) http.HandlerFunc {
	db := sql.OpenDB(slowDatabase{})
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	return func(w http.ResponseWriter, r *http.Request) {
		var one int
		var err error
		wait(r.Context(), func() { err = db.QueryRowContext(r.Context(), "one").Scan(&one) })
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		io.WriteString(w, "done")
	}
}

// slowDatabase is a driver with connections that return 1 for each query, after 2 ms.
type slowDatabase struct{}

func (slowDatabase) Connect(context.Context) (driver.Conn, error) { return slowConn{}, nil }
func (d slowDatabase) Driver() driver.Driver                      { return nil }

type slowConn struct{}

func (slowConn) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	time.Sleep(2 * time.Millisecond)
	return &oneRow{}, nil
}

func (slowConn) Prepare(string) (driver.Stmt, error) { return nil, errUnused }
func (slowConn) Begin() (driver.Tx, error)           { return nil, errUnused }
func (slowConn) Close() error                        { return nil }

var errUnused = errors.New("the section has no use for it")

type oneRow struct{ read bool }

func (*oneRow) Columns() []string { return []string{"one"} }
func (*oneRow) Close() error      { return nil }

func (r *oneRow) Next(values []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read, values[0] = true, int64(1)
	return nil
}

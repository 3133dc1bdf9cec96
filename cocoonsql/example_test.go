package cocoonsql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"log"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonsql"
)

// Open takes the arguments of sql.Open, and the calls get the context of the task. While the driver
// waits for the database, the task's slot is free for other tasks.
func ExampleOpen() {
	sql.Register("example", database{}) // as a package such as pgx or lib/pq does
	db, err := cocoonsql.Open("example", "postgres://localhost/shop")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	err = cocoon.Run(context.Background(), "GET /items", func(ctx context.Context) error {
		var count int
		if err := db.QueryRowContext(ctx, "SELECT count(*) FROM items").Scan(&count); err != nil {
			return err
		}
		fmt.Println(count, "items")
		return nil
	})
	fmt.Println(err)
	// Output:
	// 3 items
	// <nil>
}

// database is a driver that responds to each query with one row, the number 3.
type database struct{}

func (database) Open(string) (driver.Conn, error)           { return database{}, nil }
func (database) Prepare(string) (driver.Stmt, error)        { return database{}, nil }
func (database) Begin() (driver.Tx, error)                  { return nil, driver.ErrSkip }
func (database) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }
func (database) Query([]driver.Value) (driver.Rows, error)  { return new(rows), nil }
func (database) NumInput() int                              { return 0 }
func (database) Close() error                               { return nil }

type rows struct{ read bool }

func (*rows) Columns() []string { return []string{"count"} }
func (*rows) Close() error      { return nil }

func (r *rows) Next(row []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read, row[0] = true, int64(3)
	return nil
}

package sqltest

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonsql"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// open returns a database, and a loop with one slot that the runtime never lends: a task that waits
// for the database has to give the slot back itself.
func open(t *testing.T) (*cocoon.Loop, *sql.DB) {
	t.Helper()
	_, loop := tasktest.OneSlot(t)
	db, err := cocoonsql.Open("sqlite", filepath.Join(t.TempDir(), "test.db")+"?_pragma=busy_timeout(20000)")
	tasktest.Must(t, err)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	_, err = db.Exec("create table items (id integer primary key, name text not null, price real)")
	tasktest.Must(t, err)
	return loop, db
}

// TestSQLite checks that statements, named parameters, transactions, column types and errors work.
func TestSQLite(t *testing.T) {
	loop, db := open(t)
	tasktest.Must(t, loop.Run(context.Background(), "use", func(ctx context.Context) error {
		tx, err := db.BeginTx(ctx, nil)
		tasktest.Must(t, err)
		insert, err := tx.PrepareContext(ctx, "insert into items (name, price) values (:name, :price)")
		tasktest.Must(t, err)
		for i := range 100 {
			r, err := insert.ExecContext(ctx, sql.Named("name", fmt.Sprint("item ", i)), sql.Named("price", float64(i)/4))
			tasktest.Must(t, err)
			if id, err := r.LastInsertId(); err != nil || id != int64(i+1) {
				t.Errorf("id %d, %v; want %d", id, err, i+1)
			}
		}
		tasktest.Must(t, insert.Close())
		tasktest.Must(t, tx.Commit())
		rows, err := db.QueryContext(ctx, "select id, name, price from items where price > ? order by id", 20)
		tasktest.Must(t, err)
		defer rows.Close()
		types, err := rows.ColumnTypes()
		tasktest.Must(t, err)
		if got := fmt.Sprint(types[0].DatabaseTypeName(), types[1].DatabaseTypeName(), types[2].DatabaseTypeName()); got != "INTEGERTEXTREAL" {
			t.Errorf("types %s", got)
		}
		n := 0
		for ; rows.Next(); n++ {
			var id int64
			var name string
			var price float64
			tasktest.Must(t, rows.Scan(&id, &name, &price))
			if name != fmt.Sprint("item ", id-1) || price != float64(id-1)/4 {
				t.Errorf("%d %q %v", id, name, price)
			}
		}
		tasktest.Must(t, rows.Err())
		if n != 19 {
			t.Errorf("%d rows; want 19", n)
		}
		if _, err := db.ExecContext(ctx, "insert into items (id, name) values (1, 'again')"); err == nil {
			t.Error("a second item 1 was taken")
		}
		return nil
	}))
}

// TestThrowEndsAQuery checks that a throw ends an endless query, and that the connection works
// afterwards.
func TestThrowEndsAQuery(t *testing.T) {
	loop, db := open(t)
	db.SetMaxOpenConns(1)
	const endless = "with recursive n(i) as (select 1 union all select i+1 from n) select count(*) from n"
	h := loop.Go(context.Background(), "endless", func(ctx context.Context) error {
		var n int
		return db.QueryRowContext(ctx, endless).Scan(&n)
	})
	for end := time.Now().Add(20 * time.Second); db.Stats().InUse == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the query does not begin")
		}
	}
	// It has no slot.
	tasktest.Must(t, loop.Run(context.Background(), "other", func(context.Context) error { return nil }))
	h.Cancel()
	if err := h.Wait(context.Background()); err == nil {
		t.Error("the query ended by itself")
	}
	var one int
	tasktest.Must(t, db.QueryRow("select 1").Scan(&one))
}

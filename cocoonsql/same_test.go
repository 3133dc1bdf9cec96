package cocoonsql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func drivers(s *server) map[string]driver.Driver {
	return map[string]driver.Driver{"legacy": legacyDriver{s}, "middle": middleDriver{legacyDriver{s}}, "modern": modernDriver{legacyDriver{s}}}
}

// script uses every feature of database/sql, and returns the results.
func script(db *sql.DB) string {
	var seen strings.Builder
	tell := func(what string, values ...any) { fmt.Fprintln(&seen, what, fmt.Sprint(values...)) }
	ctx := context.Background()
	gone, cancel := context.WithCancel(ctx)
	cancel()

	query := func(what string, rows *sql.Rows, err error) {
		if tell(what, err); err != nil {
			return
		}
		defer rows.Close()
		types, err := rows.ColumnTypes()
		for _, t := range types {
			length, hasLength := t.Length()
			nullable, known := t.Nullable()
			precision, scale, ok := t.DecimalSize()
			tell("type", t.Name(), t.DatabaseTypeName(), t.ScanType(), length, hasLength, nullable, known, precision, scale, ok, err)
		}
		for {
			for rows.Next() {
				var v any
				err := rows.Scan(&v)
				tell("row", v, err)
			}
			if !rows.NextResultSet() {
				break
			}
		}
		tell("rows", rows.Err())
	}
	exec := func(what string, r sql.Result, err error) {
		tell(what, err)
		if err == nil {
			n, err := r.RowsAffected()
			tell("affected", n, err)
		}
	}
	ping := db.PingContext(ctx)
	tell("ping", ping)
	for _, args := range [][]any{nil, {"a"}, {1, true}, {sql.Named("n", 2)}, {point{1, 2}}, {remove{}}, {[]int{1}}, {sql.NullString{}}} {
		q := strings.Repeat("?", len(args))
		r, err := db.ExecContext(ctx, q, args...)
		exec(fmt.Sprint("exec ", args), r, err)
		rows, err := db.QueryContext(ctx, q, args...)
		query(fmt.Sprint("query ", args), rows, err)
	}
	r, err := db.ExecContext(ctx, "skip")
	exec("exec skip", r, err)
	rows, err := db.QueryContext(ctx, "skip")
	query("query skip", rows, err)
	r, err = db.ExecContext(gone, "?", 1)
	exec("exec gone", r, err)
	_, err = db.Prepare("refused")
	tell("prepare refused", err)
	st, err := db.PrepareContext(ctx, "??")
	if tell("prepare", err); err == nil {
		r, err := st.ExecContext(ctx, "x", 1)
		exec("stmt exec", r, err)
		r, err = st.ExecContext(ctx, "x")
		exec("stmt exec, too few", r, err)
		rows, err := st.QueryContext(ctx, point{3, 4}, sql.Named("n", 2))
		query("stmt query", rows, err)
		tell("close", st.Close())
	}
	for _, o := range []*sql.TxOptions{nil, {ReadOnly: true}, {Isolation: sql.LevelSerializable}} {
		tx, err := db.BeginTx(ctx, o)
		if tell("begin", err != nil); err == nil {
			r, err := tx.ExecContext(ctx, "?", "in tx")
			exec("tx exec", r, err)
			tell("commit", tx.Commit())
		}
	}
	if tx, err := db.BeginTx(ctx, nil); err == nil {
		tell("rollback", tx.Rollback())
	}
	if c, err := db.Conn(ctx); err == nil {
		c.Raw(func(under any) error {
			if u, ok := under.(interface{ Unwrap() driver.Conn }); ok {
				under = u.Unwrap()
			}
			tell(fmt.Sprintf("raw %T", under))
			return nil
		})
		tell("close", c.Close())
	}
	tell("driver", fmt.Sprintf("%T", db.Driver()))
	tell("close", db.Close())
	return seen.String()
}

// TestSame checks that a program gets the same results from a wrapped driver, and that the server
// gets the same requests.
func TestSame(t *testing.T) {
	for name := range drivers(nil) {
		t.Run(name, func(t *testing.T) {
			plain, wrapped := &server{}, &server{}
			want := script(sql.OpenDB(connectorOf(t, drivers(plain)[name])))
			got := script(sql.OpenDB(Connector(connectorOf(t, drivers(wrapped)[name]))))
			// An error that cocoonsql returns in place of database/sql begins with its own name.
			got = strings.ReplaceAll(got, errNamed.Error(), "sql: driver does not support the use of Named Parameters")
			if got != want {
				t.Errorf("a program sees\n%s\nwithout the wrapper\n%s", got, want)
			}
			for i, asked := range wrapped.asked {
				if i >= len(plain.asked) || asked != plain.asked[i] {
					t.Fatalf("the server was asked %q; without the wrapper %q", wrapped.asked[:i+1], plain.asked[:min(i+1, len(plain.asked))])
				}
			}
			if len(wrapped.asked) != len(plain.asked) {
				t.Errorf("the server was not asked %q", plain.asked[len(wrapped.asked):])
			}
			if wrapped.open != 0 || plain.open != 0 {
				t.Errorf("%d things are left open; %d without the wrapper", wrapped.open, plain.open)
			}
		})
	}
}

func connectorOf(t *testing.T, d driver.Driver) driver.Connector {
	with, ok := d.(driver.DriverContext)
	if !ok {
		return named{d, "name"}
	}
	c, err := with.OpenConnector("name")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOpen(t *testing.T) {
	s := &server{}
	for name, d := range drivers(s) {
		sql.Register("test-"+name, d)
		db, err := Open("test-"+name, "dsn")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("?", "x"); err != nil || !slices.Contains(s.asked, "open dsn") {
			t.Errorf("%s: %v, %v", name, err, s.asked)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		s.asked = nil
		refused, err := Open("test-"+name, "refused")
		if err != nil {
			t.Fatal(err)
		}
		if err := refused.Ping(); !errors.Is(err, errRefused) {
			t.Errorf("%s: %v", name, err)
		}
		refused.Close()
		s.asked = nil
	}
	if _, err := Open("test-modern", "bad"); !errors.Is(err, errRefused) {
		t.Errorf("a bad name: %v", err)
	}
	if _, err := Open("test-none", ""); err == nil {
		t.Error("a driver that is not registered was opened")
	}
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, "the connector is nil") {
			t.Errorf("panicked with %q", r)
		}
	}()
	Connector(nil)
}

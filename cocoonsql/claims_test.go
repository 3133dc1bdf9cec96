package cocoonsql

import (
	"context"
	"database/sql/driver"
	"testing"

	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// Parts of connections, each with one of the interfaces that change database/sql's behavior by
// their presence.
type (
	canExec     struct{ driver.ExecerContext }
	canQuery    struct{ driver.QueryerContext }
	canReset    struct{ driver.SessionResetter }
	canValidate struct{ driver.Validator }
)

// claims are the optional interfaces that database/sql checks for before a call.
type claims struct{ executes, queries, resets, validates bool }

func claimsOf(c any) (has claims) {
	_, has.executes = c.(driver.ExecerContext)
	_, has.queries = c.(driver.QueryerContext)
	_, has.resets = c.(driver.SessionResetter)
	_, has.validates = c.(driver.Validator)
	return has
}

// TestClaims checks that a wrapped connection has exactly the optional interfaces of the driver's
// connection, because database/sql keeps or closes connections accordingly.
func TestClaims(t *testing.T) {
	type least = legacyConn
	seen := map[claims]bool{}
	for _, under := range []driver.Conn{
		&struct{ least }{},
		&struct {
			least
			canExec
		}{},
		&struct {
			least
			canQuery
		}{},
		&struct {
			least
			canReset
		}{},
		&struct {
			least
			canValidate
		}{},
		&struct {
			least
			canExec
			canQuery
		}{},
		&struct {
			least
			canExec
			canReset
		}{},
		&struct {
			least
			canExec
			canValidate
		}{},
		&struct {
			least
			canQuery
			canReset
		}{},
		&struct {
			least
			canQuery
			canValidate
		}{},
		&struct {
			least
			canReset
			canValidate
		}{},
		&struct {
			least
			canExec
			canQuery
			canReset
		}{},
		&struct {
			least
			canExec
			canQuery
			canValidate
		}{},
		&struct {
			least
			canExec
			canReset
			canValidate
		}{},
		&struct {
			least
			canQuery
			canReset
			canValidate
		}{},
		&struct {
			least
			canExec
			canQuery
			canReset
			canValidate
		}{},
	} {
		want := claimsOf(under)
		seen[want] = true
		if got := claimsOf(wrapConn(under)); got != want {
			t.Errorf("the wrapper claims %+v, the driver %+v", got, want)
		}
	}
	if len(seen) != 16 {
		t.Errorf("%d of 16 combinations were tried", len(seen))
	}
}

// TestRaw checks that Raw passes the driver's own connection, in a task and outside, for a wrapped
// driver and for one without a wrapper.
func TestRaw(t *testing.T) {
	_, loop := tasktest.OneSlot(t)
	db := open(t, modern(&server{}))
	raw := func(ctx context.Context) error {
		c, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer c.Close()
		return Raw(ctx, c, func(conn any) error {
			if _, ok := conn.(*modernConn); !ok {
				t.Errorf("Raw gave a %T", conn)
			}
			return errRefused
		})
	}
	if err := raw(context.Background()); err != errRefused {
		t.Error(err)
	}
	if err := loop.Run(context.Background(), "raw", raw); err != errRefused {
		t.Error(err)
	}
}

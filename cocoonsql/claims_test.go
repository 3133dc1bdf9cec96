package cocoonsql

import (
	"context"
	"database/sql/driver"
	"testing"
)

// Parts of connections, each with one of the interfaces that change what database/sql does.
type (
	canExec     struct{ driver.ExecerContext }
	canQuery    struct{ driver.QueryerContext }
	canReset    struct{ driver.SessionResetter }
	canValidate struct{ driver.Validator }
)

// claims are what database/sql asks of a connection before it calls it.
type claims struct{ executes, queries, resets, validates bool }

func claimsOf(c any) (has claims) {
	_, has.executes = c.(driver.ExecerContext)
	_, has.queries = c.(driver.QueryerContext)
	_, has.resets = c.(driver.SessionResetter)
	_, has.validates = c.(driver.Validator)
	return has
}

// A wrapped connection claims what the driver's does and no more: database/sql keeps or closes
// connections by that.
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

// Raw gives the driver's own connection, in a task and outside, of a driver that is wrapped and of
// one that is not.
func TestRaw(t *testing.T) {
	_, loop := start(t)
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

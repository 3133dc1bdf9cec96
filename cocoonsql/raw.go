package cocoonsql

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/cocoon-go/cocoon/cocoon"
)

// Raw is sql.Conn.Raw, but that f is given the driver's own connection, wrapped or not:
//
//	err := cocoonsql.Raw(ctx, c, func(conn any) error {
//		_, err := conn.(*stdlib.Conn).Conn().CopyFrom(ctx, table, columns, rows)
//		return err
//	})
//
// sql.Conn.Raw gives f what database/sql holds, which is the wrapper; no wrapper can be of the
// driver's type. Like any call of the driver it gives the task's slot to others, and is not thrown
// out of: a panic in f would cost the connection. A throw that is due already is the error, and f
// is not called.
func Raw(ctx context.Context, c *sql.Conn, f func(driverConn any) error) error {
	return cocoon.BlockCall(ctx, func() error {
		if err := thrown(ctx); err != nil {
			return err
		}
		return c.Raw(func(conn any) error {
			if wrapped, ok := conn.(interface{ Unwrap() driver.Conn }); ok {
				conn = wrapped.Unwrap()
			}
			return f(conn)
		})
	})
}

package cocoonsql

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/cocoon-go/cocoon/internal/inside"
)

// Raw is [sql.Conn.Raw], except that f gets the driver's own connection, whether the driver is
// wrapped or not. f runs like a call of the driver: the task gives its slot back, and a due
// throw is the result.
func Raw(ctx context.Context, c *sql.Conn, f func(driverConn any) error) error {
	return inside.CallOrThrow(ctx, func() error {
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

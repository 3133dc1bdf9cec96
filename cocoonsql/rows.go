package cocoonsql

import (
	"context"
	"database/sql/driver"
	"io"
	"reflect"
	"time"

	"github.com/cocoon-go/cocoon/internal/inside"
)

// rows are the rows of a query. For an optional method that the driver lacks, rows returns the
// values that database/sql uses in its place.
type rows struct {
	driver.Rows
	ctx   context.Context // of the query
	slow  bool            // the previous row came late
	first bool            // no row of the result has been read
}

// slowRow is the least time after which a row counts as waited for. Drivers read many rows at once,
// and return most of them in less than a microsecond. If each row gave the slot back, the task
// would wait for its slot a thousand times. So rows gives the slot back for the first row, and for
// each row after a slow row. (Bodies of HTTP requests always give it back, because their sender may
// be hostile.)
const slowRow = 50 * time.Microsecond

func queried(ctx context.Context, query func() (driver.Rows, error)) (driver.Rows, error) {
	under, err := call(ctx, query)
	if err != nil {
		return nil, err
	}
	return &rows{Rows: under, ctx: ctx, first: true}, nil
}

// Next implements driver.Rows. The first row belongs to the query. A due throw is not its error:
// the database may have done what the query asked for, such as UPDATE ... RETURNING, or taken a
// lock, and the row is all that the task learns of it.
func (r *rows) Next(row []driver.Value) error {
	next := func() error {
		begin := time.Now()
		err := r.Rows.Next(row)
		r.slow = time.Since(begin) >= slowRow
		return err
	}
	switch {
	case r.first:
		r.first = false
		return inside.CallAnyway(r.ctx, next)
	case r.slow:
		return inside.CallOrThrow(r.ctx, next)
	}
	return next()
}

// HasNextResultSet implements driver.RowsNextResultSet.
func (r *rows) HasNextResultSet() bool {
	n, ok := r.Rows.(driver.RowsNextResultSet)
	return ok && n.HasNextResultSet()
}

// NextResultSet implements driver.RowsNextResultSet.
func (r *rows) NextResultSet() error {
	n, ok := r.Rows.(driver.RowsNextResultSet)
	if !ok {
		return io.EOF
	}
	r.first = true
	return inside.CallOrThrow(r.ctx, n.NextResultSet)
}

// Close implements driver.Rows. It may have to read the remaining rows.
func (r *rows) Close() error { return release(r.ctx, r.Rows.Close) }

// ColumnTypeScanType implements driver.RowsColumnTypeScanType.
func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	if c, ok := r.Rows.(driver.RowsColumnTypeScanType); ok {
		return c.ColumnTypeScanType(i)
	}
	return reflect.TypeFor[any]()
}

// ColumnTypeDatabaseTypeName implements driver.RowsColumnTypeDatabaseTypeName.
func (r *rows) ColumnTypeDatabaseTypeName(i int) string {
	if c, ok := r.Rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		return c.ColumnTypeDatabaseTypeName(i)
	}
	return ""
}

// ColumnTypeLength implements driver.RowsColumnTypeLength.
func (r *rows) ColumnTypeLength(i int) (length int64, ok bool) {
	if c, ok := r.Rows.(driver.RowsColumnTypeLength); ok {
		return c.ColumnTypeLength(i)
	}
	return 0, false
}

// ColumnTypeNullable implements driver.RowsColumnTypeNullable.
func (r *rows) ColumnTypeNullable(i int) (nullable, ok bool) {
	if c, ok := r.Rows.(driver.RowsColumnTypeNullable); ok {
		return c.ColumnTypeNullable(i)
	}
	return false, false
}

// ColumnTypePrecisionScale implements driver.RowsColumnTypePrecisionScale.
func (r *rows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	if c, ok := r.Rows.(driver.RowsColumnTypePrecisionScale); ok {
		return c.ColumnTypePrecisionScale(i)
	}
	return 0, 0, false
}

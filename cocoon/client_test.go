package cocoon

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"

	"github.com/cocoon-go/cocoon/safepoint"
)

// spinning is a driver whose queries only poll, as a rewritten one does, and heed their context.
type spinning struct {
	driver.Conn
	query func(ctx context.Context) error
}

func (d *spinning) Connect(context.Context) (driver.Conn, error) { return d, nil }
func (d *spinning) Driver() driver.Driver                        { return nil }
func (d *spinning) Close() error                                 { return nil }
func (d *spinning) QueryContext(ctx context.Context, _ string, _ []driver.NamedValue) (driver.Rows, error) {
	return nil, d.query(ctx)
}

// A throw at a safe point that a driver masks ends the context there and then, and not when the
// timer finds that the task does not answer.
func TestThrowIntoADriverEndsItsContext(t *testing.T) {
	noteLocked()
	rt := start(t, Config{Slots: 1})
	limit(t, rt, "lookup")
	limit(t, rt, "job")
	interrupted := errors.New("interrupted")
	var says error // the driver's error, if it is not the context's
	ask := func(ctx context.Context) error {
		s := strandOf(ctx)
		query := func(ctx context.Context) error {
			for raised := false; !raised; { // just after the request, the word is not raised yet
				s.loop.lock()
				raised = s.pending != nil && s.raised
				s.loop.unlock()
			}
			safepoint.Poll()
			s.loop.lock()
			overdue := s.pending != nil && s.pending.endedEarly
			s.loop.unlock()
			if !overdue {
				return errors.New("the context has not ended")
			}
			<-ctx.Done()
			return cmp.Or(says, context.Cause(ctx))
		}
		db := sql.OpenDB(&spinning{query: query})
		defer db.Close()
		_, err := db.QueryContext(ctx, "")
		return err
	}
	for _, says = range []error{nil, interrupted} {
		t.Run(fmt.Sprint("section, ", says), func(t *testing.T) {
			must(t, rt.Run(background, "other", func(ctx context.Context) error {
				_, err := SectionContext(ctx, "lookup", func(ctx context.Context) (int, error) { return 0, ask(ctx) })
				if pe := preemption(t, err); says != nil && pe.Returned() != says {
					t.Errorf("it has %v; want the driver's error", pe.Returned())
				}
				return ctx.Err()
			}))
		})
		t.Run(fmt.Sprint("task, ", says), func(t *testing.T) {
			if pe := preemption(t, rt.Run(background, "job", ask)); says != nil && pe.Returned() != says {
				t.Errorf("it has %v; want the driver's error", pe.Returned())
			}
		})
	}
}

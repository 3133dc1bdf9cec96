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

// A throw at a safe point that a database in the process masks ends the context there and then, and
// not when the timer finds that the task does not answer. One in the driver of a server does not.
func TestThrowIntoADriverEndsItsContext(t *testing.T) {
	noteLocked()
	throwAtPoll := func(t *testing.T, ctx context.Context) (ended, late bool) {
		s := strandOf(ctx)
		for raised := false; !raised; { // just after the request, the word is not raised yet
			s.loop.lock()
			raised = s.pending != nil && s.raised
			s.loop.unlock()
		}
		safepoint.Poll()
		has, over := s.hasTime(t)
		return !has, over
	}
	t.Run("server", func(t *testing.T) {
		rt := start(t, Config{Slots: 1})
		limit(t, rt, "job")
		for ended, late := true, true; ended && late; {
			db := sql.OpenDB(&spinning{query: func(ctx context.Context) error {
				if ended, late = throwAtPoll(t, ctx); ended && !late {
					t.Error("the context has ended")
				}
				<-ctx.Done()
				return context.Cause(ctx)
			}})
			preemption(t, rt.Run(background, "job", func(ctx context.Context) error {
				_, err := db.QueryContext(ctx, "")
				return err
			}))
			db.Close()
		}
	})
	defer func(was []string) { honouring = was }(honouring)
	honouring = append(honouring[:len(honouring):len(honouring)], "database/sql.") // as if it was in the process
	rt := start(t, Config{Slots: 1})
	limit(t, rt, "lookup")
	limit(t, rt, "job")
	interrupted := errors.New("interrupted")
	var says error // the driver's error, if it is not the context's
	ask := func(ctx context.Context) error {
		query := func(ctx context.Context) error {
			if ended, _ := throwAtPoll(t, ctx); !ended {
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

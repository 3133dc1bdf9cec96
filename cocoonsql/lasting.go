package cocoonsql

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// lasting is the context that the driver's transaction gets in a task. Drivers keep the context of
// BeginTx for the end of the transaction: pgx closes the connection if the context has ended by
// then. A throw ends the task's context, early if the task does not respond. So lasting ends with
// the task's context, except for a throw: then it ends lateEnd after the throw, for servers that do
// not respond.
type lasting struct {
	context.Context // without the end of from
	from            context.Context
	cancel          context.CancelCauseFunc
	stop            func() bool
	begun           atomic.Bool // until then a throw ends the context at once, as in any other call
	late            atomic.Pointer[time.Timer]
}

// lateEnd is how long after a throw a rollback may take.
const lateEnd = 5 * time.Second

// last returns a lasting context derived from ctx. The caller calls its end method if no
// transaction begins, or when the transaction has ended.
func last(ctx context.Context) *lasting {
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	l := &lasting{Context: inner, from: ctx, cancel: cancel}
	l.stop = context.AfterFunc(ctx, l.follow)
	return l
}

// follow ends the context, or schedules its end, because from has ended.
func (l *lasting) follow() {
	cause := context.Cause(l.from)
	var throw *cocoon.PreemptedError
	if l.begun.Load() && errors.As(cause, &throw) {
		l.late.Store(time.AfterFunc(lateEnd, func() { l.cancel(cause) }))
		return
	}
	l.cancel(cause)
}

// end ends the context, which is no longer in use.
func (l *lasting) end() {
	l.stop()
	if t := l.late.Load(); t != nil {
		t.Stop()
	}
	l.cancel(nil)
}

// Deadline returns the deadline of from, which drivers may pass to their connections.
func (l *lasting) Deadline() (time.Time, bool) { return l.from.Deadline() }

// Err distinguishes a deadline from another end, as from does.
func (l *lasting) Err() error {
	err := l.Context.Err()
	if err != nil && l.from.Err() != nil {
		return l.from.Err()
	}
	return err
}

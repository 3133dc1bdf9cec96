package cocoonsql

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// lasting is the context that the driver's transaction gets, in a task. Drivers keep the one that
// they are given with BeginTx for the transaction's end: pgx closes the connection when it has
// ended by then. A throw ends the task's context, early if the task does not answer. So this one
// ends with that one for any reason but a throw; and for a throw lateEnd afterwards, for servers
// that do not answer.
type lasting struct {
	context.Context // without the end of from
	from            context.Context
	cancel          context.CancelCauseFunc
	stop            func() bool
	begun           atomic.Bool // until then a throw ends it at once: the call for the beginning is one like any other
	late            atomic.Pointer[time.Timer]
}

// lateEnd is how long after a throw a rollback may take.
const lateEnd = 5 * time.Second

// last returns a lasting context made from ctx. Who has no transaction, or none any more, calls
// end.
func last(ctx context.Context) *lasting {
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	l := &lasting{Context: inner, from: ctx, cancel: cancel}
	l.stop = context.AfterFunc(ctx, l.follow)
	return l
}

// follow ends the context because from has ended.
func (l *lasting) follow() {
	cause := context.Cause(l.from)
	var throw *cocoon.PreemptedError
	if l.begun.Load() && errors.As(cause, &throw) {
		l.late.Store(time.AfterFunc(lateEnd, func() { l.cancel(cause) }))
		return
	}
	l.cancel(cause)
}

// end ends the context. Nobody uses it any more.
func (l *lasting) end() {
	l.stop()
	if t := l.late.Load(); t != nil {
		t.Stop()
	}
	l.cancel(nil)
}

// Deadline is that of from, which drivers may hand to their connections.
func (l *lasting) Deadline() (time.Time, bool) { return l.from.Deadline() }

// Err tells a deadline from another end, as from does.
func (l *lasting) Err() error {
	err := l.Context.Err()
	if err != nil && l.from.Err() != nil {
		return l.from.Err()
	}
	return err
}

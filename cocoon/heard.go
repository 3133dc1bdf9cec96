package cocoon

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// heard is what the runtime has read from a task's context. The context is the caller's code: its
// methods may lock, wait or panic. So the runtime calls them on the task's own goroutine before the
// task has a slot, or on a separate goroutine, but never under a loop's lock and never on the
// timer's thread. Policies read the stored values, and no method is called for them: the channel
// suffices to see whether a context has ended.
//
// Guarded by the loop's lock, once the task has arrived.
type heard struct {
	asked    uint32          // what was or is being read from the context
	ended    bool            // when the task arrived
	deadline int64           // on the clock of package notify; 0: unknown, notify.Never: none
	done     <-chan struct{} // nil: unknown, or the context never ends
}

// What is read from a context.
const (
	askDeadline uint32 = 1 << iota
	askDone
)

// ask reads from the context on the calling goroutine, which holds no lock.
func ask(ctx context.Context, what uint32) heard {
	h := heard{asked: what}
	if what&askDeadline != 0 {
		h.deadline = notify.Never
		if at, ok := ctx.Deadline(); ok {
			h.deadline = notify.Now() + int64(min(max(-greatest, time.Until(at)), greatest))
		}
	}
	if what&askDone != 0 {
		h.done = ctx.Done()
	}
	return h
}

// greet reads from the context of an arriving task. A context that panics does so here, before any
// part of the task has begun.
func (l *Loop) greet(ctx context.Context) (said heard) {
	if what := l.asks.Load(); what != 0 {
		said = ask(ctx, what)
	}
	said.ended = ctx.Err() != nil
	return said
}

// doneOf returns the context's Done channel, or the error. The task is already in the queue, so a
// panic must not pass.
func doneOf(ctx context.Context) (done <-chan struct{}, wrong error) {
	defer recovering(&wrong)
	return ctx.Done(), nil
}

// causeOf returns why the context has ended.
func causeOf(ctx context.Context) (cause error) {
	defer recovering(&cause)
	return context.Cause(ctx)
}

// recovering converts a panic in a method of a context to an error.
func recovering(err *error) {
	if r := recover(); r != nil {
		*err = &PanicError{Value: r, Stack: debug.Stack()}
	}
}

// inquire reads from the task's context on a goroutine of its own, once. It is for values that were
// not read when the task arrived. If the context panics or never returns, its values stay unknown,
// with no other effect. Called under the loop's lock.
func (s *strand) inquire(what uint32) {
	h := &s.heard
	if h.asked&what != 0 || s.bubbled {
		return
	}
	h.asked |= what
	t, ctx := s.task, s.task.given()
	go func() {
		defer func() { _ = recover() }()
		t.hear(ask(ctx, what))
	}()
}

// hear stores what was read from the task's context.
func (t *Task) hear(said heard) {
	l := t.strand.loop
	l.lock()
	defer l.unlock()
	if !t.known {
		return
	}
	h := &t.strand.heard
	if said.asked&askDeadline != 0 {
		h.deadline = said.deadline
	}
	if said.asked&askDone != 0 {
		h.done = said.done
	}
}

// deadline returns the time left to the deadline of the task's context, or the greatest duration if
// the context has no deadline or it is not known. Called under the loop's lock.
func (s *strand) deadline(now int64) int64 {
	s.inquire(askDeadline)
	if at := s.heard.deadline; at != 0 && at != notify.Never {
		return min(max(-greatest, at-now), greatest)
	}
	return greatest
}

// cancelled reports whether the task's context is known to have ended. Called under the loop's
// lock.
func (s *strand) cancelled() bool {
	s.inquire(askDone)
	select {
	case <-s.heard.done:
		return true
	default:
		return false
	}
}

// asks returns what the policy needs to read from a task's context when the task arrives. A time
// policy can wait to learn whether the context has ended: reading Done for every task costs each of
// them a channel, and few tasks live until a tick. An event does not come again.
func (b *bound) asks() (what uint32) {
	for i := range b.reads {
		switch b.reads[i].stub {
		case stubs.TaskDeadline, stubs.ArrivingDeadline:
			what |= askDeadline
		case stubs.TaskCancelled:
			if b.version.spec.On.Set() != stubs.Tick {
				what |= askDone
			}
		}
	}
	return what
}

// reask recomputes what is read from contexts, after a change of the policies. Called under the
// loop's lock.
func (l *Loop) reask() {
	what := uint32(0)
	for e := stubs.Event(1); e&stubs.AnyEvent != 0; e <<= 1 {
		for _, b := range l.hub.Listeners(uint16(e)) {
			what |= b.asks()
		}
	}
	l.asks.Store(what)
}

package cocoon

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// heard is what a task's context has said of itself. The context is code of the caller: its methods
// may lock, wait or panic. So they run on the task's own goroutine, before the task has a slot, or
// on a goroutine of their own; never under a loop's lock, and never on the timer's thread. Policies
// read what was heard, and no method is called for that: a channel is enough to see whether a
// context has ended.
//
// Guarded by the loop's lock, once the task has arrived.
type heard struct {
	asked    uint32          // what the context was asked, or is being asked
	deadline int64           // on the clock of package notify; 0: unknown, notify.Never: it has none
	done     <-chan struct{} // nil: unknown, or the context never ends
	ended    bool            // when the task came
}

// What a context is asked.
const (
	askDeadline uint32 = 1 << iota
	askDone
)

// ask asks the context on the calling goroutine, which holds no lock.
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

// greet asks the context of a task that comes. A context that panics does so here, before anything
// of the task has begun.
func (l *Loop) greet(ctx context.Context) (said heard) {
	if what := l.asks.Load(); what != 0 {
		said = ask(ctx, what)
	}
	said.ended = ctx.Err() != nil
	return said
}

// doneOf returns the context's Done channel, or what went wrong. The task waits in the queue, so a
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

// recovering makes an error of a panic in a method of a context.
func recovering(err *error) {
	if r := recover(); r != nil {
		*err = &PanicError{Value: r, Stack: debug.Stack()}
	}
}

// inquire has the task's context asked on a goroutine of its own, once. It is for tasks that were
// not asked when they arrived. A context that panics or never answers stays unknown, and nothing
// else suffers. Called under the loop's lock.
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

// hear notes what the task's context has said.
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

// deadline returns the time left to the deadline of the task's context; the greatest duration when
// it has none, or is not known. Called under the loop's lock.
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

// asks returns what the policy needs to know of a task's context when the task arrives. A time
// policy can wait for whether the context has ended: to know it of every task costs each a channel,
// and few tasks see a tick. An event does not come again.
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

// reask recomputes what contexts are asked after a change of the policies. Called under the loop's
// lock.
func (l *Loop) reask() {
	what := uint32(0)
	for e := stubs.Event(1); e&stubs.AnyEvent != 0; e <<= 1 {
		for _, b := range l.hub.Listeners(uint16(e)) {
			what |= b.asks()
		}
	}
	l.asks.Store(what)
}

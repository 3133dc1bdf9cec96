package cocoon

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// Values that are read from a context.
const (
	readDeadline uint32 = 1 << iota
	readDone
)

// readContext reads from the context on the calling goroutine, which holds no lock.
func readContext(ctx context.Context, what uint32) heard {
	h := heard{read: what}
	if what&readDeadline != 0 {
		h.deadline = notify.Never
		if at, ok := ctx.Deadline(); ok {
			h.deadline = notify.Now() + int64(min(max(-greatest, time.Until(at)), greatest))
		}
	}
	if what&readDone != 0 {
		h.done = ctx.Done()
	}
	return h
}

// greet reads from the context of an arriving task. A context that panics does so here, before any
// part of the task has begun.
func (l *Loop) greet(ctx context.Context) (said heard) {
	if what := l.contextReads.Load(); what != 0 {
		said = readContext(ctx, what)
		l.rt.noteDeadline(said)
	}
	said.ended = ctx.Err() != nil
	return said
}

// noteDeadline notes whether a context from which the deadline was read had one.
func (rt *Runtime) noteDeadline(said heard) {
	if said.read&readDeadline == 0 {
		return
	}
	seen := &rt.dated
	if said.deadline == notify.Never {
		seen = &rt.undated
	}
	if !seen.Load() {
		seen.Store(true)
	}
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
	if h.read&what != 0 || s.bubbled {
		return
	}
	h.read |= what
	t, ctx := s.task, s.task.given()
	go func() {
		defer func() { _ = recover() }()
		said, rt := readContext(ctx, what), t.strand.loop.rt
		rt.noteDeadline(said)
		rt.errands.hear(t, said)
	}()
}

// deadline returns the time left to the deadline of the task's context, or the greatest duration if
// the context has no deadline or it is not known. Called under the loop's lock.
func (s *strand) deadline(now int64) int64 {
	s.inquire(readDeadline)
	if at := s.heard.deadline; at != 0 && at != notify.Never {
		return min(max(-greatest, at-now), greatest)
	}
	return greatest
}

// cancelled reports whether the task's context is known to have ended. Called under the loop's
// lock.
func (s *strand) cancelled() bool {
	s.inquire(readDone)
	select {
	case <-s.heard.done:
		return true
	default:
		return false
	}
}

// contextReads returns which values the policy needs from the context of an arriving task. A time
// policy can wait to learn whether the context has ended: reading Done for every task costs each of
// them a channel, and few tasks live until a tick. An event does not come again.
func (b *bound) contextReads() (what uint32) {
	for i := range b.reads {
		switch b.reads[i].stub {
		case stubs.TaskDeadline, stubs.ArrivingDeadline:
			what |= readDeadline
		case stubs.TaskCancelled:
			if b.version.spec.On.Set() != stubs.Tick {
				what |= readDone
			}
		}
	}
	return what
}

// updateContextReads recomputes which values are read from contexts, after a change of the
// policies. Called under the loop's lock.
func (l *Loop) updateContextReads() {
	what := uint32(0)
	for e := stubs.Event(1); e&stubs.AnyEvent != 0; e <<= 1 {
		for _, b := range l.hub.Listeners(uint16(e)) {
			what |= b.contextReads()
		}
	}
	l.contextReads.Store(what)
}

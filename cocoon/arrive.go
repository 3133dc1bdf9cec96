package cocoon

import (
	"cmp"
	"context"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// closedFor returns why t may not arrive: the runtime is shutting down, or t is already cancelled.
// Called under the loop's lock.
func (l *Loop) closedFor(t *Task) error {
	if l.closed {
		return ErrShutdown
	}
	if t.doomed {
		return ErrCancelled
	}
	// A task that ends its context searches for waiting tasks below it afterwards.
	if above := t.endedAbove(); above != nil {
		return cmp.Or(above.endCause(), context.Canceled)
	}
	return nil
}

// arrive queues the task, evaluates the enqueue policies, and reports whether the task waits for
// its slot.
func (s *strand) arrive(t *Task) (waits bool, err error) {
	l := s.loop
	l.lock()
	now := s.clock()
	if err := l.closedFor(t); err != nil {
		l.unlock()
		return false, t.refusal(err)
	}
	l.join(s, t)
	l.meter.arrives(s, now)
	l.gatherOne(now)
	if most := l.cfg.MaxQueue; most > 0 && l.core.Waiting() >= most {
		// Do not refuse a task while a holder of a slot only waits, or waiting tasks may start without.
		if !l.lendWaits(now) {
			l.startExtras(now)
		}
	}
	granted, refused := l.core.Arrive(&s.core, now)
	if refused {
		waiting := l.core.Waiting()
		l.unlock()
		return false, s.overloaded(t, waiting)
	}
	s.begin(t)
	s.enlist()
	granted, err = s.placed(granted, now)
	if granted || err != nil {
		l.unlock()
		return false, err
	}
	l.armWaiting(now)
	l.unlockAndLook(now)
	s.enterAll()
	return true, nil
}

// placed seats a task to which the core has granted a slot, looks for another slot if it has not,
// and evaluates the enqueue policies. It returns whether the task has a slot. Called under the
// loop's lock.
func (s *strand) placed(granted bool, now int64) (bool, error) {
	l := s.loop
	if granted {
		l.seat(s, now)
	} else {
		granted = l.lendTo(s, now)
	}
	if l.wants(stubs.Enqueue) {
		l.arriving(s, now)
		if s.withdrawn != nil && granted {
			// refused, but it already has a slot, or is an extra task: give the slot back
			l.unseat(s, now)
			s.dropLent()
			l.core.Exit(&s.core, now)
			l.deliver(now)
			s.end(now)
			return false, s.withdrawn.err()
		}
	}
	l.meter.entered(s, granted, now)
	return granted, nil
}

// await waits until the task has its first slot, or is withdrawn, or its context ends. The end of a
// context above it withdraws it too.
func (s *strand) await(t *Task) error {
	done, cause := doneOf(t.ctx)
	switch {
	case cause != nil:
	case done == nil:
		<-s.token()
		return s.withdrawn.err()
	case s.tokenBefore(done):
		return s.withdrawn.err()
	default:
		cause = causeOf(t.ctx)
	}
	// The error is made here, and not under the lock, because the cause's text is the caller's
	// code.
	return s.giveUp(t.refusal(cause))
}

// tokenBefore waits for the token, and reports whether the token came before done was closed.
func (s *strand) tokenBefore(done <-chan struct{}) bool {
	select {
	case <-s.token():
		return true
	case <-done:
		return false
	}
}

// giveUp takes the task out of the queue because its context has ended.
func (s *strand) giveUp(why error) error {
	s.loop.lock()
	out := s.abandon(why, notify.Now())
	s.loop.unlock()
	// The token says whether this call or another one has withdrawn the task, or the task was
	// granted a slot just before.
	<-s.token()
	if !out && s.withdrawn == nil {
		return nil
	}
	return s.withdrawn.err()
}

// enter blocks a task of this goroutine, because s is about to wait for a slot of its own. repay
// undoes it.
func (s *strand) enter(outer *strand) {
	if outer.loop.wants(stubs.Block) {
		outer.loop.happened(outer, stubs.Block)
	}
	outer.block()
	outer.inner = s
	outer.owedNext, s.owes = s.owes, outer
}

// enterAll blocks all tasks of this goroutine that hold a slot: s waits inside of them, whatever
// its context is.
func (s *strand) enterAll() {
	for o := strandOfGoroutine(); o != nil && o != s; o = strandOfGoroutine() {
		s.enter(o)
	}
}

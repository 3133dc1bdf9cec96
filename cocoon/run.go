package cocoon

import (
	"context"
	"errors"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/stubs"
)

var errNilFunc = errors.New("cocoon: the task's function is nil")

// Run runs fn as a task of the loop, on the calling goroutine, and returns fn's error. It first
// waits for a slot. If ctx ends before the task gets one, Run returns the context's cause and does
// not call fn. The task has the kind registered for name. fn gets a context that carries the task
// and ends with the task and its children.
//
// If a policy throws into the task, Run returns a *PreemptedError, even if the throw only ended the
// task's context and fn then returned an error, see PreemptedError.Returned. Any other panic of fn,
// or Goexit, passes through after the slot is given back. Other errors are ErrOverloaded,
// ErrShutdown, and a *PreemptedError with Started false when a policy refused the task: fn was not
// called then, so nothing that it defers has run.
//
// Run can be nested: inside a task it is a safe point. On the same loop the inner task takes over
// the slot of the outer one, and may be switched out only if both kinds allow it. On another loop
// the outer task waits for a slot again afterwards. In both cases the outer task counts as blocked
// meanwhile, so its running time, and a time limit on it, stand still.
//
// Cost: about 150 ns if a slot is free (bench: run), and one allocation of 80 bytes, or of 24 when
// many tasks with the same context and name follow each other. After the task has ended, the
// runtime retains neither fn nor ctx nor their values.
func (l *Loop) Run(ctx context.Context, name string, fn func(ctx context.Context) error) error {
	if fn == nil {
		return errNilFunc
	}
	up, attrs := scopeOf(ctx)
	outer := up.here()
	if outer != nil {
		outer.heedFor(ctx) // before anything begins: it may unwind
	}
	said := l.greet(ctx) // also before: it may panic
	s := l.idle()
	t := s.newTask(ctx, up, attrs, name)
	s.heard = said
	if s.outer = outer; outer != nil {
		outer.inner = s
	}
	if err := s.admit(ctx, t); err != nil {
		return err
	}
	return s.call(t, fn)
}

// admit waits until the task has its first slot. On an error the task has ended and the strand is
// back in the pool.
func (s *strand) admit(ctx context.Context, t *Task) error {
	s.g.Store(goroutine.ID())
	if s.loop.rt.traces() {
		t.traceArrival()
	}
	waits, err := s.nestOrArrive(ctx, t)
	if waits {
		s.token() // here, where the stack is shallower
		if err = s.await(t); err == nil {
			s.startsLate()
			s.makeUp(s.core.Arrived())
		}
		s.unshown = err == nil && s.loop.rt.witness.Load() != nil
	}
	if err == nil {
		if s.loop.rt.cfg.Trace {
			t.traceStart()
		}
		s.started()
		return nil
	}
	if s.loop.rt.cfg.Trace {
		t.traceEnd()
	}
	t.status.Store(uint32(CancelledBeforeStart))
	s.release(t)
	s.repay()
	s.loop.stats.refused.count(err)
	s.loop.rt.canaries.refused(t, err)
	s.recycle()
	s.loop.showRefusal(ctx, err)
	return err
}

// nestOrArrive gets the task a slot, or reports that the task waits for one. On an error the task
// has ended.
func (s *strand) nestOrArrive(ctx context.Context, t *Task) (waits bool, err error) {
	if s.heard.ended {
		return false, t.refusal(causeOf(ctx))
	}
	if outer := s.outer; outer != nil && !outer.blocked {
		if nested, err := s.inherit(t); nested || err != nil {
			return false, err
		}
		s.enter(outer)
	}
	if t.up.Load() == nil && s.handle == nil && s.takeOpen(t) {
		return false, nil
	}
	return s.arrive(t)
}

// started marks the task's start, and evaluates the start policies.
func (s *strand) started() {
	l := s.loop
	if l.concerned(s, stubs.Start) && !s.inOpenSlot() { // an open slot is not guarded
		l.happened(s, stubs.Start)
	}
	if !s.inherits && s.standsAside() {
		s.standAside()
	}
	s.startsStretch(s.armStart())
	l.rt.armGaps()
}

// call runs fn in the task's slot and gives the slot back, however fn ends.
//
// It is not inlined, because the report of a stalled task looks for this frame.
//
//go:noinline
func (s *strand) call(t *Task, fn func(context.Context) error) (err error) {
	s.returned = false
	defer s.leave(t, &err)
	if s.unshown {
		s.showWait()
	}
	if s.requests.Load() != 0 {
		s.answer() // a start policy threw, or the task was cancelled just now
	}
	t.status.Store(uint32(Started))
	err = s.through((*taskContext)(t), fn)
	s.returned = true
	return err
}

// Run runs fn as a task of the default loop, on the calling goroutine, and returns fn's error, a
// *PreemptedError if a policy has stopped or refused the task, or another error of Loop.Run.
func (rt *Runtime) Run(ctx context.Context, name string, fn func(ctx context.Context) error) error {
	return rt.Loop().Run(ctx, name, fn)
}

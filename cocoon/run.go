package cocoon

import (
	"context"
	"errors"
	"fmt"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/stubs"
)

var errNilFunc = errors.New("cocoon: the task's function is nil")

// Run runs fn as a task of the loop, on the calling goroutine, and returns fn's error. It first
// waits for a slot. If ctx ends before the task gets one, Run returns the context's cause and does
// not call fn. The task has the kind registered for name. fn gets a context that carries the task
// and ends with the task and its children.
//
// If a policy throws into the task, Run returns a *PreemptedError. Any other panic of fn, or
// Goexit, passes through after the slot is given back. Other errors are ErrOverloaded, ErrShutdown,
// and a *PreemptedError with Started false when a policy refused the task.
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
	waits, err := s.nestOrArrive(ctx, t)
	if waits {
		s.token() // here, where the stack is shallower
		err = s.await(t)
	}
	if err == nil {
		s.started()
		return nil
	}
	s.repay()
	t.status.Store(uint32(CancelledBeforeStart))
	t.release()
	s.loop.stats.refused.Add(1)
	s.recycle()
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

// begin assigns the strand to t. Called under the loop's lock, or by the task's goroutine before
// any other goroutine knows the task.
func (s *strand) begin(t *Task) {
	s.task, s.pending, s.withdrawn = t, nil, nil
	s.safePoints = 0
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
	s.armStart()
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
	if s.requests.Load() != 0 {
		s.answer() // a start policy threw, or the task was cancelled just now
	}
	t.status.Store(uint32(Started))
	err = s.through((*taskContext)(t), fn)
	s.returned = true
	return err
}

// refusal returns the error of a task that ended before it started because its context ended, the
// queue was full or the runtime shut down. It is not inlined, so that waiting tasks have small
// frames: even with the channel made, a wait for a slot fits into the 2 KiB of a new goroutine's
// stack (TestWaitingTaskNeedsLittle).
//
//go:noinline
func (t *Task) refusal(cause error) error {
	return fmt.Errorf("cocoon: task %q did not start: %w", t.Path(), cause)
}

// overloaded returns the error of a task that finds the queue full.
//
//go:noinline
func (t *Task) overloaded(waiting int) error {
	return t.refusal(fmt.Errorf("%w: %d tasks wait on loop %q", ErrOverloaded, waiting, t.Loop().cfg.Name))
}

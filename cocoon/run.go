package cocoon

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

var errNilFunc = errors.New("cocoon: the task's function is nil")

// Run runs fn as a task of the loop, on the calling goroutine, and returns fn's error. It waits for
// a slot first; when ctx ends before it got one, fn is not called and the context's cause is
// returned. The task's kind is the one registered for name. fn gets a context that carries the
// task; it ends with the task and its children.
//
// A task that is thrown into returns a *PreemptedError; any other panic, or Goexit, of fn passes
// through, after the slot is given back. Other errors: ErrOverloaded, ErrShutdown, and a
// *PreemptedError with Started false when a policy refused the task.
//
// Inside a task, Run is a safe point, and nests: on the same loop the inner task takes over the
// outer one's slot, and may be switched out only if both kinds allow it; on another loop the outer
// task waits for a slot again afterwards. Either way the outer one counts as blocked meanwhile, so
// its running time, and with it a time limit, stands still.
//
// Cost: about 150 ns where a slot is free (bench: run), and one allocation: of 80 bytes, or of 24
// when many tasks with the same context and name follow each other. When the task has ended, the
// runtime keeps neither fn nor ctx nor their values.
func (l *Loop) Run(ctx context.Context, name string, fn func(ctx context.Context) error) error {
	if fn == nil {
		return errNilFunc
	}
	up, attrs := scopeOf(ctx)
	outer := up.here()
	if outer != nil {
		outer.heedFor(ctx) // before anything is begun: it may unwind
	}
	said := l.greet(ctx) // likewise: it may panic
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

// admit brings the task to its first slot. On an error the task has ended and the strand is back in
// the pool.
func (s *strand) admit(ctx context.Context, t *Task) error {
	s.g.Store(goroutine.ID())
	waits, err := s.nestOrArrive(ctx, t)
	if waits {
		s.token() // here, where the stack is not as deep
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

// nestOrArrive gets the task a slot, or reports that it waits for one. On an error it has ended.
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

// closedFor returns why t may not arrive: the runtime shuts down, or it was cancelled already.
// Called under the loop's lock.
func (l *Loop) closedFor(t *Task) error {
	if l.closed {
		return ErrShutdown
	}
	if t.doomed {
		return ErrCancelled
	}
	if above := t.endedAbove(); above != nil { // who ends it looks for those that wait after that
		return cmp.Or(above.endCause(), context.Canceled)
	}
	return nil
}

// begin makes the strand t's. Called under the loop's lock, or by the task's goroutine while nobody
// else knows of the task.
func (s *strand) begin(t *Task) {
	s.task, s.pending, s.withdrawn, s.would = t, nil, nil, s.would[:0]
	s.safePoints = 0
}

// enlist makes the strand's task known to all who look for tasks. Called under the loop's lock.
func (s *strand) enlist() {
	l := s.loop
	s.task.known = true
	l.rt.tasks.Add(1)
	if s.prev, s.next = nil, l.live; l.live != nil {
		l.live.prev = s
	}
	l.live = s
}

// arrive queues the task, lets the enqueue policies see it, and reports whether it waits for its
// slot.
func (s *strand) arrive(t *Task) (waits bool, err error) {
	l := s.loop
	l.lock()
	now := s.clock()
	if err := l.closedFor(t); err != nil {
		l.unlock()
		return false, t.refusal(err)
	}
	l.join(s, t)
	l.gatherOne()
	if most := l.cfg.MaxQueue; most > 0 && l.core.Waiting() >= most {
		l.lendWaits(now) // no task is refused for one that only waits
	}
	granted, refused := l.core.Arrive(&s.core, now)
	if refused {
		waiting := l.core.Waiting()
		l.unlock()
		return false, t.overloaded(waiting)
	}
	s.begin(t)
	s.enlist()
	if granted {
		l.seat(s, now)
	} else {
		granted = l.lendTo(s, now)
	}
	if l.wants(stubs.Enqueue) {
		l.arriving(s, now)
		if s.withdrawn != nil && granted {
			// refused, and it has a slot already: give it back
			l.unseat(s, now)
			l.core.Exit(&s.core, now)
			l.deliver(now)
			s.end(now)
			l.unlock()
			return false, s.withdrawn
		}
	}
	if !granted {
		l.armWaiting(now)
	}
	lookAt := l.lookAt
	l.unlock()
	if !granted {
		l.armLook(now, lookAt)
		s.enterAll()
	}
	return !granted, nil
}

// await waits for the first slot, or for the end of the context, or to be withdrawn: also by the
// end of a context above.
func (s *strand) await(t *Task) error {
	done, cause := doneOf(t.ctx)
	switch {
	case cause != nil:
	case done == nil:
		<-s.token()
		return s.withdrawn
	case s.tokenBefore(done):
		return s.withdrawn
	default:
		cause = causeOf(t.ctx)
	}
	return s.giveUp(t.refusal(cause)) // made here, and not under the lock: the cause's text is the caller's code
}

// tokenBefore waits for the token and reports whether it came before done was closed.
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
	out := s.withdraw(why, notify.Now())
	s.loop.unlock()
	// Withdrawn by us, or granted a slot, or withdrawn by another, just before: the token says
	// which.
	<-s.token()
	if !out && s.withdrawn == nil {
		return nil
	}
	return s.withdrawn
}

// withdraw takes a task that waits for its first slot out of the queue, and wakes it to hear why.
// Called under the loop's lock.
func (s *strand) withdraw(why error, now int64) bool {
	if !s.loop.core.Withdraw(&s.core, now) {
		return false
	}
	s.withdrawn = why
	s.end(now)
	s.token() <- struct{}{}
	return true
}

// started marks the task's start, and lets the start policies see it.
func (s *strand) started() {
	l := s.loop
	if l.concerned(s, stubs.Start) && !s.inOpenSlot() { // what is open is not guarded
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
		s.answer() // a start policy threw, or it was cancelled just now
	}
	t.status.Store(uint32(Started))
	err = s.through((*taskContext)(t), fn)
	s.returned = true
	return err
}

// leave is the task's last boundary: a throw ends here, and the slot is given back.
func (s *strand) leave(t *Task, err *error) {
	status := Returned
	if s.throwing != nil && !s.returned {
		if r := recover(); r != nil { // nil: Goexit
			*err, status = s.arrived(r), CancelledBeforeReturn
			if t.Status() == Starting {
				status = CancelledBeforeStart
			}
			t.endContext(s.throwing.err)
		}
	} else if s.requests.Load()&wantThrow != 0 && s.returned {
		status, *err = s.unanswered(*err)
	}
	s.landed()
	s.depart(t, status)
}

// unanswered returns the result of a task that has returned err while a throw was due. The throw is
// void, unless the task's code has swallowed it, or err tells of it, or says no more than that the
// context has ended, which the throw has done: then it is what ended the task.
func (s *strand) unanswered(err error) (Status, error) {
	if err == nil {
		return Returned, err
	}
	s.loop.lock()
	p, t := s.pending, s.task
	s.loop.unlock()
	var told *PreemptedError
	switch {
	case p == nil || p.section != 0:
	case p == s.throwing:
		t.endContext(p.err)
		return CancelledBeforeReturn, p.over(err)
	case errors.As(err, &told) && told == p.err:
		return CancelledBeforeReturn, err
	case errors.Is(err, context.Canceled) && t.endCause() == error(p.err):
		return CancelledBeforeReturn, p.err
	}
	return Returned, err
}

// depart ends the task: account, slot, tree, pool.
func (s *strand) depart(t *Task, status Status) {
	s.sections.cut(0)
	t.status.Store(uint32(status))
	if s.leaveOpen() {
		s.task = nil
	} else {
		s.exit()
	}
	s.repay()
	t.release()
	s.recycle()
}

// exit gives the slot of a known task back, under the lock.
func (s *strand) exit() {
	l, outer := s.loop, s.outer
	exits := l.concerned(s, stubs.Exit)
	l.lock()
	now := notify.Now()
	if exits {
		l.evaluateEvent(s, stubs.Exit, now)
	}
	kept := false
	if s.inherits {
		kept = s.unnest(now)
	} else {
		l.unseat(s, now)
		l.core.Exit(&s.core, now)
	}
	s.dropLent()
	l.deliver(now)
	account := s.core.Account(now)
	l.stats.ended(account)
	if l.rt.costs.Load() {
		s.task.class.ran(account.Running)
	}
	s.end(now)
	l.unlock()
	if s.inherits && !kept {
		outer.unblock()
	}
}

// end detaches the strand from its task. Called under the loop's lock.
func (s *strand) end(now int64) {
	l := s.loop
	if s.handle != nil {
		s.handle.account = s.account(now)
	}
	if s.next != nil {
		s.next.prev = s.prev
	}
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		l.live = s.next
	}
	if s.requests.Load() != 0 {
		s.quiet()
		s.requests.Store(0)
	}
	s.prev, s.next = nil, nil
	s.task.known = false
	s.task, s.pending = nil, nil
	l.rt.tasks.Add(-1)
	if l.closed {
		l.rt.ended()
	}
}

// recycle puts the strand aside for another task. From here on it leads to nothing of this one.
func (s *strand) recycle() {
	s.outer, s.handle, s.withdrawn, s.inherits = nil, nil, nil, false
	s.rest.Store(0)
	s.heard = heard{}
	s.loop.pool.Put(s)
}

// refusal is the error of a task that ended before it started, for a context that ended, a full
// queue or a shutdown. It is not inlined, so that tasks which wait have small frames: with the
// channel made, a wait for a slot fits into the 2 KiB with which a goroutine begins
// (TestWaitingTaskNeedsLittle).
//
//go:noinline
func (t *Task) refusal(cause error) error {
	return fmt.Errorf("cocoon: task %q did not start: %w", t.Path(), cause)
}

// overloaded is the error of a task that finds the queue full.
//
//go:noinline
func (t *Task) overloaded(waiting int) error {
	return t.refusal(fmt.Errorf("%w: %d tasks wait on loop %q", ErrOverloaded, waiting, t.Loop().cfg.Name))
}

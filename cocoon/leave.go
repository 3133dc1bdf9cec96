package cocoon

import (
	"context"
	"errors"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

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

// unanswered returns the result of a task that has returned err while a throw was pending. The
// throw ended the task if the task's code has swallowed it, if err contains it, if err is only
// context.Canceled and the throw has cancelled the context, or if it has ended a client's call.
// Otherwise the throw is void.
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
	case p.endedClient(err):
		return CancelledBeforeReturn, p.over(err)
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
	if l.meter != nil {
		l.meter.ended(s, account.Running, now)
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

// recycle returns the strand to the pool for another task. It clears all references to this task.
func (s *strand) recycle() {
	s.outer, s.handle, s.withdrawn, s.inherits, s.keptFrom = nil, nil, nil, false, 0
	if s.rest.Load() != 0 { // most tasks never rest, and a store is a locked exchange
		s.rest.Store(0)
	}
	if s.slow.Load() != 0 {
		s.slow.Store(0)
	}
	s.heard = heard{}
	// The accounts and the policies may be gone before the strand has another task.
	if s.tenant != nil || s.class != nil {
		s.tenant, s.class = nil, nil
		s.core.Forget()
	}
	if len(s.would) > 0 {
		clear(s.would)
		s.would = s.would[:0]
	}
	s.loop.pool.Put(s)
}

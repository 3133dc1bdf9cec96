package cocoon

import (
	"errors"

	"github.com/cocoon-go/cocoon/internal/sched"
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
	s.endStretch()
	if s.loop.rt.cfg.Trace {
		t.traceEnd()
	}
	s.depart(t, status, *err != nil)
	if status == CancelledBeforeReturn {
		s.showEnd(t, *err)
	}
}

// unanswered returns the result of a task that has returned err while a throw was pending. The
// throw ended the task if the task's code has swallowed it, if err contains it, or if the throw has
// ended the task's context. Otherwise the throw is void.
func (s *strand) unanswered(err error) (Status, error) {
	if err == nil {
		return Returned, err
	}
	s.loop.lock()
	p, t := s.pending, s.task
	s.loop.unlock()
	defer s.deafen()()
	var told *PreemptedError
	switch {
	case p == nil || p.section != 0:
	case p == s.throwing:
		t.endContext(p.err)
		return CancelledBeforeReturn, p.err.over(err)
	case errors.As(err, &told) && told == p.err:
		return CancelledBeforeReturn, err
	case t.endCause() == error(p.err):
		return CancelledBeforeReturn, p.err.endedFor(err)
	}
	return Returned, err
}

// depart ends the task: account, slot, tree, pool.
func (s *strand) depart(t *Task, status Status, failed bool) {
	s.sections.cut(0)
	t.status.Store(uint32(status))
	if s.leaveOpen() {
		s.task = nil
		t.release()
	} else {
		s.exit(t, failed)
	}
	s.repay()
	s.recycle()
}

// exit gives the slot of a known task back, under the lock. An outer task goes on only after the
// tree has forgotten t.
func (s *strand) exit(t *Task, failed bool) {
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
	s.tally(failed, now)
	s.end(now)
	l.unlock()
	s.release(t)
	if kept {
		outer.beginStretch(now)
	} else if s.inherits {
		outer.unblock(false)
	}
}

// tally adds the times of the task, which ends, to the statistics. Called under the loop's lock. It
// is apart from exit, which has little stack left when it delivers a slot (away).
func (s *strand) tally(failed bool, now int64) {
	l, account := s.loop, s.core.Account(now)
	l.stats.ended(account)
	l.rt.canaries.count(s.task, account.Queued, failed, true)
	if l.rt.costs.Load() {
		s.task.class.ran(account.Running)
	}
	if l.meter != nil {
		l.meter.ended(s, account.Running, now)
	}
}

// recycle returns the strand to the pool for another task. It clears all references to this task.
func (s *strand) recycle() {
	s.outer, s.handle, s.withdrawn, s.inherits, s.keptFrom, s.ranUntil = nil, nil, nil, false, 0, 0
	if s.rest.Load() != 0 { // most tasks never rest, and a store is a locked exchange
		s.rest.Store(0)
	}
	if s.slow.Load() != 0 {
		s.slow.Store(0)
	}
	s.heard = heard{}
	if s.switching != nil {
		s.switching = nil
	}
	// The accounts and the policies may be gone before the strand has another task.
	if s.tenant != nil || s.class != nil {
		s.tenant, s.class = nil, nil
		s.core.Forget()
	}
	if w := s.would; w != nil && len(*w) > 0 {
		clear(*w)
		*w = (*w)[:0]
		s.absent = false
	}
	s.loop.pool.Put(s)
}

// unnest gives the slot back to the outer task, and reports false if there is no slot to give back.
// Called under the loop's lock.
func (s *strand) unnest(now int64) (kept bool) {
	l, outer := s.loop, s.outer
	l.unseat(s, now)
	if kept = l.core.Unnest(&outer.core, &s.core, now); kept {
		l.seat(outer, now)
		outer.blocked = false
	}
	return kept
}

// repay ends the nesting: the tasks that were blocked for s get a slot again, the outermost last.
func (s *strand) repay() {
	if s.outer != nil {
		s.outer.inner = nil
	}
	for o := s.owes; o != nil; o = s.owes {
		s.owes, o.owedNext, o.inner = o.owedNext, nil, nil
		o.unblock(false)
	}
}

// ended adds the account of a task that has ended. Called under the loop's lock.
func (s *loopStats) ended(a sched.Account) {
	s.done++
	s.account.Queued += a.Queued
	s.account.Running += a.Running
	s.account.Suspended += a.Suspended
	s.account.Blocked += a.Blocked
	s.account.Starved += a.Starved
	s.account.Preemptions += a.Preemptions
	s.queueing.add(a.Queued)
}

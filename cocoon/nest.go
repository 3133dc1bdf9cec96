package cocoon

import (
	"github.com/cocoon-go/cocoon/stubs"
)

// Tasks nest on one goroutine when a task calls Run. Given the task's context, s.outer and
// outer.inner lead from one to the other, also where the outer one is inside Block and holds no
// slot. Run with another context is found out only when it has to wait, because to look for its
// goroutine's tasks would cost every Run more than the rest of it.

// inherit starts the task in the slot of the one it runs inside of, when that is of the same loop;
// the enqueue policies may refuse it. When it cannot nest there and may arrive like any other, it
// reports false without an error.
func (s *strand) inherit(t *Task) (nested bool, refused error) {
	l, outer := s.loop, s.outer
	if outer.loop != l {
		return false, nil
	}
	l.lock()
	defer l.unlock()
	now := s.clock()
	outer.meet(now)
	if l.closedFor(t) != nil {
		return false, nil
	}
	if l.join(s, t); !l.core.Nest(&outer.core, &s.core, now) {
		return false, nil
	}
	l.meter.arrives(s, now)
	outer.endGap(now)
	outer.quiet()
	s.inherits, outer.blocked = true, true
	s.begin(t)
	s.enlist()
	l.seat(s, now)
	if l.wants(stubs.Enqueue) {
		if l.arriving(s, now); s.withdrawn != nil {
			s.unnest(now)
			l.deliver(now)
			s.end(now)
			return false, s.withdrawn
		}
	}
	return true, nil
}

// unnest gives the slot back to the outer task, and reports false when there is none to give.
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

// enter blocks a task of this goroutine, for s is about to wait for a slot of its own; repay makes
// good for it.
func (s *strand) enter(outer *strand) {
	if outer.loop.wants(stubs.Block) {
		outer.loop.happened(outer, stubs.Block)
	}
	outer.block()
	outer.inner = s
	outer.owedNext, s.owes = s.owes, outer
}

// enterAll blocks all tasks of this goroutine that hold a slot: s waits inside of them, whatever
// its context says.
func (s *strand) enterAll() {
	for o := strandOfGoroutine(); o != nil && o != s; o = strandOfGoroutine() {
		s.enter(o)
	}
}

// repay ends the nesting: those that were blocked for s get a slot again, the outermost last.
func (s *strand) repay() {
	if s.outer != nil {
		s.outer.inner = nil
	}
	for o := s.owes; o != nil; o = s.owes {
		s.owes, o.owedNext, o.inner = o.owedNext, nil, nil
		o.unblock()
	}
}

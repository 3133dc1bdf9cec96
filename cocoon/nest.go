package cocoon

import (
	"github.com/cocoon-go/cocoon/stubs"
)

// Tasks nest on one goroutine when a task calls Run. If Run gets the task's context, s.outer and
// outer.inner link the two, even when the outer task is inside Block and holds no slot. If Run gets
// another context, the nesting is detected only when the inner task has to wait, because searching
// for its goroutine's tasks would cost every Run more than the rest of it.

// inherit starts the task in the slot of the task it is nested in, if both are on the same loop;
// the enqueue policies may refuse it. If it cannot nest there and may arrive like any other task,
// inherit returns false without an error.
func (s *strand) inherit(t *Task) (nested bool, refused error) {
	l, outer := s.loop, s.outer
	if outer.loop != l {
		return false, nil
	}
	outer.endStretch()
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
	outer.lower()
	s.inherits, outer.blocked = true, true
	s.begin(t)
	s.enlist()
	l.seat(s, now)
	if l.wants(stubs.Enqueue) {
		if l.arriving(s, now); s.withdrawn != nil {
			s.unnest(now)
			l.deliver(now)
			s.end(now)
			return false, s.withdrawn.err()
		}
	}
	return true, nil
}

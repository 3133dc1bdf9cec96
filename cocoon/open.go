package cocoon

import (
	"github.com/cocoon-go/cocoon/notify"
)

// takeOpen takes an open slot for t, and reports false if there is none. It is not for nested
// tasks: no other code may know the task before it runs.
func (s *strand) takeOpen(t *Task) bool {
	slots := s.loop.slots[:s.loop.usable.Load()]
	if int(s.at) >= len(slots) {
		s.at = 0 // there were more slots before
	}
	for range slots {
		if holder := &slots[s.at].holder; holder.Load() == nil {
			s.begin(t)
			s.runBase.Store(s.clock())
			if holder.CompareAndSwap(nil, &s.quick) {
				// start here again the next time: the slot's line is in this core's cache
				return true
			}
		}
		if s.at++; int(s.at) == len(slots) {
			s.at = 0
		}
	}
	return false
}

// inOpenSlot reports whether the task took an open slot and has not been gathered since. Called by
// the task's goroutine.
func (s *strand) inOpenSlot() bool { return s.loop.slots[s.at].holder.Load() == &s.quick }

// leaveOpen gives back the slot that takeOpen took, and reports false if the task was gathered
// meanwhile.
func (s *strand) leaveOpen() bool {
	if !s.inOpenSlot() {
		return false
	}
	slot := &s.loop.slots[s.at]
	running := s.running(notify.Now())
	if !slot.holder.CompareAndSwap(&s.quick, nil) {
		return false
	}
	slot.ended.Add(1)
	slot.running.Add(running)
	return true
}

// open opens the free slots. Called under the loop's lock.
func (l *Loop) open() {
	if rt := l.rt; l.guarded || l.meter != nil && l.meter.eachTask() || l.closed || rt.tenants.Load() != nil || rt.costs.Load() || rt.canaries.running() || rt.gaps != nil {
		return
	}
	for i := l.core.Open(); i >= 0; i = l.core.Open() {
		l.slots[i].holder.Store(nil)
	}
}

// adopt shuts all open slots, and makes the tasks in them known. Called under the loop's lock.
func (l *Loop) adopt() {
	for i := 0; i < len(l.slots) && l.core.Opened() > 0; i++ {
		l.shut(i)
	}
}

// shut shuts slot i if it is open, and makes the task in it known. It reports whether the slot is
// free now. Called under the loop's lock.
func (l *Loop) shut(i int) (free bool) {
	holder := &l.slots[i].holder
	for {
		switch c := holder.Load(); {
		case c == nil:
			if holder.CompareAndSwap(nil, &shut) {
				l.core.Shut(i)
				return true
			}
		case c.strand == nil || c == &c.strand.firm:
			return false
		default:
			if s := c.strand; holder.CompareAndSwap(c, &s.firm) {
				l.core.Adopt(&s.core, i, s.runBase.Load())
				s.sampleFrom(s.runBase.Load())
				s.enlist()
				return false
			}
		}
	}
}

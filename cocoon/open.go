package cocoon

import (
	"sync/atomic"

	"github.com/cocoon-go/cocoon/notify"
)

// slot is one slot of a loop. Each has its own cache lines, so that while slots are free, tasks
// that start and end on different cores write to no shared memory.
//
//  1. Code that holds the loop's lock opens the slots that are free in the core, by storing nil,
//     unless a policy or an account must see every task.
//  2. Run takes an open slot by exchanging nil for its strand's quick claim. When the task ends, it
//     exchanges the claim for nil.
//  3. A caller that needs to know all tasks of the loop takes the lock with lockAll, which gathers:
//     nil becomes shut, a quick claim becomes firm, and the core is told. The exchange at the
//     task's end then fails, and the task ends under the lock like any other.
//  4. All other tasks take and leave their slots under the lock.
//
// A task begins to wait under the lock, after it has found no open slot and has gathered the taken
// ones. So while a task waits no slot is open, and every task that leaves a slot looks for waiting
// tasks.
type slot struct {
	holder  atomic.Pointer[claim]
	ended   atomic.Int64 // quick tasks that have ended
	running atomic.Int64 // their running time, in ns
	_       [128 - 24]byte
}

// claim is a strand's hold on a slot.
type claim struct{ strand *strand }

// shut is the holder of a free slot while the slot is not open.
var shut claim

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
	if rt := l.rt; l.guarded || l.meter != nil && l.meter.eachTask() || l.closed || rt.tenants.Load() != nil || rt.costs.Load() || rt.gaps != nil {
		return
	}
	for i := l.core.Open(); i >= 0; i = l.core.Open() {
		l.slots[i].holder.Store(nil)
	}
}

// gather shuts all open slots, makes the tasks in them known, and takes the slots of resting tasks.
// Called under the loop's lock.
func (l *Loop) gather() {
	l.adopt()
	l.takeRests(len(l.slots), true)
}

// adopt shuts all open slots, and makes the tasks in them known. Called under the loop's lock.
func (l *Loop) adopt() {
	for i := 0; i < len(l.slots) && l.core.Opened() > 0; i++ {
		l.shut(i)
	}
}

// gatherOne shuts one open slot if the slot is free. If there is none, it shuts all open slots,
// because a task may have to wait. If then no slot is free, it takes the slot of a resting task.
// Called under the loop's lock.
func (l *Loop) gatherOne() {
	for i := range l.slots {
		if l.slots[i].holder.Load() == nil && l.shut(i) {
			return
		}
	}
	if l.adopt(); l.core.Full() {
		l.takeRests(1, false)
	}
}

// meet makes the calling task known if the task took an open slot, and records that the task runs
// if it counted as waiting. Called under the loop's lock by the task's goroutine.
func (s *strand) meet(now int64) {
	if s.inOpenSlot() {
		s.loop.shut(int(s.at))
	}
	if s.parked.Load() {
		s.loop.surface(s, now)
	}
	s.settlePast(now)
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

// quickEnded returns the number of tasks that have ended in open slots, and their running time in
// ns. It takes no lock.
func (l *Loop) quickEnded() (n, running int64) {
	for i := range l.slots {
		n += l.slots[i].ended.Load()
		running += l.slots[i].running.Load()
	}
	return n, running
}

// alive returns the number of tasks that have not ended. It takes no lock.
func (rt *Runtime) alive() int64 {
	n := rt.tasks.Load()
	for _, l := range *rt.loops.Load() {
		for i := range l.slots {
			if l.slots[i].quick() != nil {
				n++
			}
		}
	}
	return max(0, n)
}

// quick returns the strand of the task that took the slot while the slot was open, or nil.
func (s *slot) quick() *strand {
	if c := s.holder.Load(); c != nil && c.strand != nil && c == &c.strand.quick {
		return c.strand
	}
	return nil
}

// firm returns the strand of a known task that holds the slot, or nil. Called under the loop's
// lock.
func (s *slot) firm() *strand {
	if c := s.holder.Load(); c != nil && c.strand != nil && c == &c.strand.firm {
		return c.strand
	}
	return nil
}

package cocoon

import (
	"sync/atomic"

	"github.com/cocoon-go/cocoon/notify"
)

// slot is one slot of a loop. Each has cache lines of its own: while slots are free, tasks on
// different cores that come and go write to nothing that they share.
//
// While nobody waits, a free slot needs no decision, and is open: who comes takes it without the
// loop's lock.
//
//  1. Under the loop's lock, slots that are free in the core are opened, unless a policy or an
//     account is to see each task: nil.
//  2. Run takes an open slot by exchanging nil for its strand's quick claim, and at its end the
//     claim for nil.
//  3. A caller that needs to know all tasks of the loop takes the lock by lockAll, which gathers:
//     nil becomes shut, a quick claim becomes firm, and the core is told. The exchange at the
//     task's end then fails, and it ends under the lock like any other.
//  4. All others take and leave their slots under the lock.
//
// A task waits under the lock, after it found no open slot and has gathered those that are taken:
// so while a task waits no slot is open, and no task leaves one without looking who waits.
type slot struct {
	holder  atomic.Pointer[claim]
	ended   atomic.Int64 // quick tasks that have ended
	running atomic.Int64 // their running time, in ns
	_       [128 - 24]byte
}

// claim is a strand's hold on a slot.
type claim struct{ strand *strand }

// shut is the holder of a slot that is free and not open.
var shut claim

// takeOpen takes an open slot for t, and reports false when there is none. It is for tasks outside
// of others: nobody else knows of such a task before it runs.
func (s *strand) takeOpen(t *Task) bool {
	slots := s.loop.slots[:s.loop.usable.Load()]
	if s.at >= len(slots) {
		s.at = 0 // there were more of them
	}
	for range slots {
		if holder := &slots[s.at].holder; holder.Load() == nil {
			s.tenant = nil
			s.begin(t)
			s.runBase.Store(s.clock())
			if holder.CompareAndSwap(nil, &s.quick) {
				return true // and here again the next time: the slot's line is in this core's cache
			}
		}
		if s.at++; s.at == len(slots) {
			s.at = 0
		}
	}
	return false
}

// inOpenSlot reports whether the task took an open slot, and was not gathered since. Called by the
// task's goroutine.
func (s *strand) inOpenSlot() bool { return s.loop.slots[s.at].holder.Load() == &s.quick }

// leaveOpen gives the slot back that takeOpen took, and reports false when the task was gathered
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
	if rt := l.rt; l.guarded || l.closed || rt.tenants.Load() != nil || rt.costs.Load() || rt.gaps != nil {
		return
	}
	for i := l.core.Open(); i >= 0; i = l.core.Open() {
		l.slots[i].holder.Store(nil)
	}
}

// gather shuts all open slots, makes the tasks in them known, and takes the slots of tasks that
// rest. Called under the loop's lock.
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

// gatherOne shuts one open slot that is free, or else, for somebody may have to wait, all; then, if
// none is free, it takes the slot of a task that rests. Called under the loop's lock.
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

// meet makes the calling task known, if it took an open slot, and notes that it runs, if it seemed
// to wait. Called under the loop's lock by the task's goroutine.
func (s *strand) meet(now int64) {
	if s.inOpenSlot() {
		s.loop.shut(s.at)
	}
	if s.parked.Load() {
		s.loop.surface(s, now)
	}
	s.settlePast(now)
}

// shut ends slot i's being open, if it is, and makes the task in it known; it reports whether the
// slot is free now. Called under the loop's lock.
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
				s.sampled, s.cpuAt, s.foundWaiting = s.runBase.Load(), 0, false
				s.enlist()
				return false
			}
		}
	}
}

// quickEnded returns how many tasks have ended in open slots, and their running time in ns. It
// takes no lock.
func (l *Loop) quickEnded() (n, running int64) {
	for i := range l.slots {
		n += l.slots[i].ended.Load()
		running += l.slots[i].running.Load()
	}
	return n, running
}

// alive returns how many tasks have not ended. It takes no lock.
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

// quick returns the strand whose task took the slot while it was open, or nil.
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

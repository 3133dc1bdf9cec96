package cocoon

import "sync/atomic"

// slot is one slot of a loop. Each has its own cache lines, so that while slots are free, tasks
// that start and end on different cores write to no shared memory.
//
//  1. Code that holds the loop's lock opens the free slots of the core, by storing nil,
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

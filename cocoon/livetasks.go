package cocoon

import (
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/notify"
)

// Loops returns the loops of the runtime, the default loop first.
func (rt *Runtime) Loops() []*Loop { return slices.Clone(*rt.loops.Load()) }

// TaskStats is a snapshot of a task that had not ended. It keeps the task, and with it the task's
// context, in memory.
type TaskStats struct {
	Task    *Task
	State   string        // queued, running, blocked, suspended, lent or parked, as in LoopStats
	Slot    int           // the number of the slot in which the task runs, from 0; -1: in none
	For     time.Duration // since the task entered its state
	Tenant  string        // "" if no tenant has an account
	Section string        // the innermost open section; "" outside any
	Account Account
}

// Tasks returns at most limit live tasks of the loop: first the tasks in slots, in the order of the
// slots, then all others, the newest first. It holds the loop's lock for about 0.15 µs a task
// (BenchmarkTasks), and tasks that are in open slots at that time end under the lock. So a debug
// page may call it several times a second for a few hundred tasks.
func (l *Loop) Tasks(limit int) []TaskStats {
	l.lock()
	defer l.unlock()
	l.adopt() // and leave the slots of resting tasks alone
	now := notify.Now()
	var all []TaskStats
	for i := range l.slots {
		if s := l.slots[i].firm(); s != nil && len(all) < limit {
			all = append(all, s.seen(now))
		}
	}
	for s := l.live; s != nil && len(all) < limit; s = s.next {
		if s.heldSlot() < 0 {
			all = append(all, s.seen(now))
		}
	}
	return all
}

// heldSlot returns the slot in which the task is seen, or -1. Called under the loop's lock.
func (s *strand) heldSlot() int {
	if i := s.core.Slot(); i >= 0 && s.loop.slots[i].firm() == s {
		return i
	}
	return -1
}

// seen returns a snapshot of the strand's task. Called under the loop's lock.
func (s *strand) seen(now int64) TaskStats {
	t := TaskStats{
		Task: s.task, State: s.standing(), Slot: s.heldSlot(), For: time.Duration(max(0, now-s.core.Since())),
		Section: s.section(), Account: s.account(now),
	}
	if rested, rests := s.rested(now); rested > 0 || rests { // the core does not know yet
		t.Account.Running -= time.Duration(rested)
		t.Account.Blocked += time.Duration(rested)
		if rests {
			t.State = "blocked"
		}
	}
	if s.tenant != nil {
		t.Tenant = s.tenant.text
	}
	return t
}

// standing returns the word for the state of the strand's task. Called under the loop's lock.
func (s *strand) standing() string {
	switch st := s.core.State(); st {
	case sched.Ready:
		return "queued"
	case sched.Lent:
		if s.parked.Load() {
			return "parked"
		}
		return "lent"
	default:
		return st.String()
	}
}

package cocoon

import "github.com/cocoon-go/cocoon/internal/goroutine"

// longWork returns how many tasks run long in slots, or are suspended. Called by the timer.
func (l *Loop) longWork(now int64) (n int64) {
	l.lock()
	defer l.unlock()
	l.adopt()
	for i := range l.slots {
		if s := l.slots[i].firm(); s != nil && s.runsLong(now) {
			n++
		}
	}
	return n + int64(l.core.Suspended())
}

// runsLong reports whether a task that holds a slot has run for long, as far as one look shows. A
// task that was switched out has, although it may have got its slot again just now. Called under the
// loop's lock.
func (s *strand) runsLong(now int64) bool {
	if s.rest.Load() < 0 || now-s.core.Since() < heatAfter && s.core.Account(now).Preemptions == 0 {
		return false
	}
	st := s.status()
	return st == goroutine.Running || st == goroutine.Runnable
}

// processSlots returns how many slots and extra tasks all runtimes of the process have.
func processSlots() (slots, extras int64) {
	for _, rt := range *runtimes.Load() {
		for _, l := range *rt.loops.Load() {
			slots += int64(l.usable.Load())
		}
	}
	return slots, extraTasks.Load()
}

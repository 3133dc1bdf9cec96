package cocoon

import "github.com/cocoon-go/cocoon/internal/goroutine"

// tasksDemand returns how many holders of slots and extra tasks want a P, and how many tasks run
// long in slots or are suspended. Called by the timer.
func (l *Loop) tasksDemand(now int64) (wanting, long int64) {
	l.lock()
	defer l.unlock()
	l.adopt()
	for i := range l.slots {
		s := l.slots[i].firm()
		if s == nil {
			continue
		}
		switch s.status() {
		case goroutine.Running, goroutine.Runnable, goroutine.Ready:
			wanting++
		}
		if s.runsLong(now) {
			long++
		}
	}
	return wanting + int64(l.absent.extras), long + int64(l.core.Suspended())
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

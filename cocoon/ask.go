package cocoon

import "github.com/cocoon-go/cocoon/notify"

// askToSwitch asks s to let another task run, unless it is asked already. It returns the time from
// which s can be suspended: Never if there is no task to run in its place. Called under the loop's
// lock.
func (l *Loop) askToSwitch(s *strand, now int64) (at int64, asked bool) {
	at, ok := l.core.SwitchAt(&s.core, now)
	if !ok {
		return notify.Never, false
	}
	if s.requests.Load()&wantSwitch == 0 {
		s.post(wantSwitch, now)
		s.switching, asked = nil, true
	}
	return at, asked
}

// post posts a request. Called under the loop's lock.
func (s *strand) post(want uint32, now int64) {
	old := s.requests.Load()
	if old&want != 0 {
		return // already posted; the timer repeats it
	}
	if old == 0 || s.respondsFrom() > now {
		s.postedAt = now
	}
	s.requests.Store(old | want)
	if s.parked.Load() {
		s.loop.surface(s, now) // it must be watched like a running task
	}
	if at := s.respondsFrom(); at > now {
		s.loop.rt.timer.WakeAt(at)
	} else if !s.raised && s.onSlot() {
		s.raise(now)
	}
}

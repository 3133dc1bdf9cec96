package cocoon

// regain asks for a slot for a task that has run before, and reports whether the task has one now.
// Called under the loop's lock, by the task's goroutine.
func (s *strand) regain(now int64) (granted bool) {
	l := s.loop
	l.gatherOne(now)
	if l.core.Unblock(&s.core, now) {
		l.seat(s, now)
		return true
	}
	if l.lendTo(s, now) {
		return true
	}
	l.returning(s, now)
	return false
}

// awaitSlot releases the loop's lock and waits for the slot of a task that has run before. A task
// that waits for its first slot may be withdrawn: see await.
func (s *strand) awaitSlot(now int64) {
	if s.loop.rt.cfg.Trace {
		if region := s.traceWait(); region != nil {
			defer region.End()
		}
	}
	s.loop.unlockAndLook(now)
	<-s.token()
}

// dropLent removes s from the lists of tasks without a slot. Called under the loop's lock.
func (s *strand) dropLent() {
	if s.lent.Load() {
		s.loop.absent.remove(s)
		s.comeBack()
	}
}

// unlockAndLook releases the loop's lock, for a task that waits for a slot, and then makes the
// timer look at the holders soon.
func (l *Loop) unlockAndLook(now int64) {
	lookAt := l.lookAt
	l.unlock()
	if l.lends() {
		l.rt.timer.WakeAt(max(now+minLook, lookAt))
	}
	l.rt.armStall(now)
}

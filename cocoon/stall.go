package cocoon

// lend gives the slot of a stalled task to a waiting task, and reports the stall. Called under the
// loop's lock.
func (l *Loop) lend(s *strand, now int64) {
	silent := now - max(s.core.Since(), s.lastSafe)
	if l.giveAway(s, now) {
		l.stats.stalls.Add(1)
		s.stalled(silent)
		l.reportStall(s, silent, now)
		s.showStall(silent)
	}
}

// giveAway gives the slot of s to a waiting task while s runs on without one, and reports whether
// it did. A task that has just begun a Block gives its slot up itself. Called under the loop's
// lock.
func (l *Loop) giveAway(s *strand, now int64) bool {
	if s.settleRest(now) {
		l.deliver(now)
		return false
	}
	i := s.core.Slot()
	l.slots[i].holder.Store(&shut)
	l.absent.addLent(s)
	l.core.Lend(&s.core, now)
	s.post(wantProbe, now) // at its next safe point it asks for a slot
	l.deliver(now)
	l.armSweep(now)
	return true
}

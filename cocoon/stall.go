package cocoon

// lend gives the slot of a stalled task to a waiting task. Called under the loop's lock.
func (l *Loop) lend(s *strand, now int64) {
	if s.settleRest(now) { // it has just begun a Block
		l.deliver(now)
		return
	}
	i := s.core.Slot()
	silent := now - max(s.core.Since(), s.lastSafe)
	l.slots[i].holder.Store(&shut)
	l.absent.addLent(s)
	l.core.Lend(&s.core, now)
	l.deliver(now)
	l.stats.stalls.Add(1)
	l.reportStall(s, silent, now)
}

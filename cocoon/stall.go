package cocoon

import "github.com/cocoon-go/cocoon/notify"

// patience returns how long an undeclared task of the loop waits until it may start over suspended
// tasks, and until running preemptible tasks are switched out for it; 0: it never may. In plain Go
// it would have a processor after one time slice of the others. On a loop that lends slots, tasks
// are not atomic towards each other anyway.
func (l *Loop) patience() int64 {
	if !l.lends() {
		return 0
	}
	return max(0, int64(l.rt.cfg.StallAfter))
}

// yieldToImpatient asks the tasks that may be switched out to let an undeclared task run that has
// waited too long, if they have held their slots for as long. It returns when to look again. Called
// by the timer, under the loop's lock.
func (l *Loop) yieldToImpatient(now int64) (next int64) {
	at, ok := l.core.ImpatientAt()
	if !ok {
		return notify.Never
	}
	if now < at {
		return at
	}
	next = notify.Never
	for i := range l.slots {
		s := l.slots[i].firm()
		if s == nil || s.core.Kind&Preemptible == 0 {
			continue
		}
		if due := s.core.Since() + l.patience(); now < due {
			next = min(next, due)
		} else {
			l.askToSwitch(s, now)
		}
	}
	return next
}

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

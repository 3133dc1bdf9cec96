package cocoon

import (
	"runtime"

	"github.com/cocoon-go/cocoon/notify"
)

// regain asks for a slot for a task that has run before, and reports whether the task may go on
// now: with a slot, or as an extra task. Called under the loop's lock, by the task's goroutine.
func (s *strand) regain(now int64) (granted bool) {
	s.loop.gatherOne(now)
	return s.comesBack(now)
}

// regainAfter is regain after a Block, which the wait for a message is, too. It returns the time.
func (s *strand) regainAfter(message bool) (granted bool, now int64) {
	l := s.loop
	now = notify.Now()
	s.learnBrisk(now)
	l.gatherOne(now)
	if message && s.stepsBack(now) {
		l.unlock()
		runtime.Gosched()
		l.lock()
		now = notify.Now()
		l.gatherOne(now)
	}
	return s.comesBack(now), now
}

// comesBack is regain after gatherOne.
func (s *strand) comesBack(now int64) (granted bool) {
	l := s.loop
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

// stepsBack reports whether a task should yield its P before it asks for a slot. The task is back
// from the wait for a message, and has lost its slot. It yields if all slots are taken and a task
// with a slot has no P. That task needs a P before the slot can be free, and messages take so little
// time that the slot mostly is free then. Otherwise the tasks of many streams would queue for slots,
// and each message would change places. Called under the loop's lock, after gatherOne.
func (s *strand) stepsBack(now int64) bool {
	l := s.loop
	return !l.wanted.Load() && s.requests.Load() == 0 && l.core.Full() && l.holderLacksP(now, 0)
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
	s.startsLate()
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

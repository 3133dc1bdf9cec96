package cocoon

import (
	"time"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// Missed ticks. The timer evaluates time policies for the tasks that run at that moment. A task in
// a loop of short calls waits nearly all the time, so the timer would seldom find it running, and a
// limit would end it hundreds of milliseconds late. So a task that is back from a wait evaluates
// the policies of which it has missed a tick, or the horizon, and which may throw. A policy that
// can only switch needs no such evaluation: the task has just got its slot.
//
// The timer records when it last looked at the loop. A task that has missed nothing compares that
// time with the beginning of its wait, and does no more. A task that keeps its slot during a Block
// need not even do that, because a look takes the slots of all resting tasks (rest.go).

// mostlyLate is how late the timer is at most, except on a machine that is far too busy. A task may
// have begun to wait between a horizon and the timer's look.
const mostlyLate = int64(10 * time.Millisecond)

// makeUp evaluates the time policies of which s has missed a tick or the horizon in its wait, which
// began at the time left. Called by the task's goroutine, when the task runs again.
func (s *strand) makeUp(left int64) {
	if s.loop.ticked.Load() >= left {
		s.loop.evaluateMissed(s, left)
	}
}

// evaluateMissed is a separate function because most tasks get by without its frame: see away.
//
//go:noinline
func (l *Loop) evaluateMissed(s *strand, left int64) {
	from := notify.Now()
	l.lock()
	defer l.unlock()
	now, gathered := notify.Now(), false
	if l.isNew(s, now) {
		return
	}
	s.excuse(from, now)
	for _, b := range l.hub.Listeners(uint16(stubs.Tick)) {
		if b.silent() || !b.ends || !b.watches(s) {
			continue
		}
		since, missed := b.missed(s, left, now)
		if !missed {
			continue
		}
		if !gathered { // the policy may read how many tasks run
			l.gather()
			gathered = true
		}
		l.view.about(s, nil)
		l.evaluateTick(b, now-since, now)
	}
}

// excuse subtracts the time between from and now, in which the calling task has waited for the
// loop's lock, and the time for which it had no processor just before, from its running time: the
// policies are evaluated at once, and no sample comes first. Called under the loop's lock.
func (s *strand) excuse(from, now int64) {
	if s.task.Status() == Starting {
		from = s.sampled // nothing of the task has run
	}
	off := now - max(from, s.sampled)
	if _, known := s.lookAtStretch(now); known { // without a wait: that ends a stretch
		s.sampled = now
	} else if off >= worthALock {
		s.starve(off, now)
		s.sampled = now
	}
}

// isNew reports whether s has its lead before it, even with the time that it has waited. Called
// under the loop's lock.
func (l *Loop) isNew(s *strand, now int64) bool {
	k := l.leads.Load()
	if k == nil {
		return true
	}
	gone := now - s.core.Arrived()
	if k.aged {
		gone = max(gone, l.core.Oldest(now))
	}
	return gone < k.lead(l.rt, s.task.class, s.core.Kind)
}

// missed reports whether the policy may act on s and was due for it while s waited, and since when.
// Called under the loop's lock.
func (b *bound) missed(s *strand, left, now int64) (since int64, missed bool) {
	wait := b.wait(s, now)
	if wait > 0 {
		return 0, false
	}
	horizon := now + wait
	last, _ := b.lastTick(now)
	missed = last >= left && last >= horizon || b.prompt && horizon >= left-mostlyLate
	return max(last, horizon), missed
}

// comesUp records that the calling task runs again, if it has waited unannounced, and makes up for
// what it has missed.
func (s *strand) comesUp() {
	l := s.loop
	l.lock()
	left := int64(notify.Never)
	if s.parked.Load() {
		left = s.core.Since()
		l.surface(s, notify.Now())
	}
	l.unlock()
	s.makeUp(left)
}

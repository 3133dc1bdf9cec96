package cocoon

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/notify"
)

// seat records that s holds a slot. Called under the loop's lock, before s runs.
func (l *Loop) seat(s *strand, now int64) {
	l.slots[s.core.Slot()].holder.Store(&s.firm)
	s.runBase.Store(now - s.core.Ran(now))
	s.sampleFrom(now)
	s.restedAt.Store(now)
	l.busy++
	l.arm(s, now)
	if s.requests.Load() != 0 && !s.raised && s.respondsFrom() <= now {
		s.raise(now) // posted while it did not run
	}
}

// unseat records that s is about to give up slot i. Called under the loop's lock, before the core
// is told, so that the record of the slot's next holder replaces this one.
func (l *Loop) unseat(s *strand, now int64) {
	s.settlePast(now)
	s.sampleLate(now)
	s.endGap(now)
	s.lower()
	s.checks = nil
	if i := s.core.Slot(); i >= 0 && s.core.State() == sched.Running {
		l.slots[i].holder.Store(&shut)
	}
}

// deliver hands slots to the tasks to which the core has granted one. A task that would stand aside
// at once, as soon as it has a processor, is set aside here, and the next task gets the slot:
// behind a crowd that waits for processors, each change of places would take as long as the crowd.
// Called under the loop's lock after every call of the core that may free a slot.
func (l *Loop) deliver(now int64) {
	for _, t := range l.core.Granted() {
		s := t.Owner.(*strand)
		l.seat(s, now)
		if s.unseated {
			l.leftQueue(s, now)
		}
		if !l.setsAside(s) {
			s.token() <- struct{}{}
		}
	}
	if len(l.aside) > 0 && !l.setting {
		l.setAll(now)
	}
}

// setAll sets the tasks in l.aside aside, and delivers their slots. It is apart from deliver, which
// has little stack left (away).
//
//go:noinline
func (l *Loop) setAll(now int64) {
	l.setting = true
	for n := len(l.aside); n > 0; n = len(l.aside) {
		s := l.aside[n-1]
		l.aside = slices.Delete(l.aside, n-1, n)
		l.setAside(s, now)
		s.token() <- struct{}{}
		l.deliver(now)
	}
	l.setting = false
}

// setsAside reports whether s, which has just got a slot to start or to come back from a Block,
// stands aside; deliver takes the slot then. Called under the loop's lock.
//
//go:noinline
func (l *Loop) setsAside(s *strand) bool {
	if s == l.asks || !s.blocked && s.task.Status() != Starting || !s.standsAside() {
		return false
	}
	l.aside = append(l.aside, s)
	return true
}

// leftQueue notes that s, which has waited for its first slot, does so no more. Called under the
// loop's lock.
func (l *Loop) leftQueue(s *strand, now int64) {
	s.unseated = false
	if l.meter != nil {
		l.meter.waited(s, max(0, s.core.Since()-s.core.Arrived()), now)
	}
}

// surface records that s, which has waited unannounced, runs again. Called under the loop's lock.
func (l *Loop) surface(s *strand, now int64) {
	l.absent.runs(s)
	l.core.Surface(&s.core, now)
	l.runsLent(s, now)
	l.rt.armGaps()
}

// runsLent records that s runs without a slot. Called under the loop's lock.
func (l *Loop) runsLent(s *strand, now int64) {
	s.runBase.Store(now - s.core.Ran(now))
	s.lastSafe = now
	s.sampleFrom(now)
	l.busy++
	l.arm(s, now)
}

// sampleFrom begins a new account of the time that the task runs.
func (s *strand) sampleFrom(now int64) {
	s.sampled = now
	if s.checks != nil {
		*s.checks = checks{strain: s.checks.strain}
	}
}

// settlePast subtracts earlier rests from the running time of a task that holds a slot. If the
// caller is not the task's goroutine, the task may begin to rest at the same moment. Then
// settlePast does nothing, and the task finds out at the end of the rest.
func (s *strand) settlePast(now int64) {
	if rest := s.rest.Load(); rest > 0 && s.core.State() == sched.Running && s.rest.CompareAndSwap(rest, 0) {
		s.loop.core.Rested(&s.core, rest, s.restedAt.Load())
		s.runBase.Store(now - s.core.Ran(now))
	}
}

// token returns the channel through which the slot is handed to a waiting task. It is made at the
// first wait.
func (s *strand) token() chan struct{} {
	if s.wake.Load() == nil {
		made := newWake()
		s.wake.CompareAndSwap(nil, &made)
	}
	return *s.wake.Load()
}

// standsAside reports whether the task should run without a slot because tasks of its class mostly
// wait. It takes no lock.
func (s *strand) standsAside() bool {
	c, l := s.task.class, s.loop
	if d := c.declared.Load(); d != nil && d.waits {
		return !l.cfg.Exclusive
	}
	return l.lends() && c.seen.mostlyWait() && !s.mayBeTimed()
}

// mayBeTimed reports whether a time policy may act on the task. It takes no lock.
func (s *strand) mayBeTimed() bool {
	k := s.loop.leads.Load()
	return k != nil && k.lead(s.loop.rt, s.task.class, s.core.Kind) != notify.Never
}

// setAside takes the slot of s, which counts as waiting from now on. Called under the loop's lock;
// the caller delivers the slot.
func (l *Loop) setAside(s *strand, now int64) {
	l.unseat(s, now)
	l.core.Block(&s.core, now)
	l.absent.addParked(s)
	if s.pending != nil { // its next safe point must find the throw
		l.surface(s, now)
		s.raise(now)
	}
	l.armSweep(now)
}

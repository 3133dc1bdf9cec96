package cocoon

import (
	"slices"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// retime computes leads for the current policies and puts them in force. If a task opens an unmet
// section meanwhile, either retime sees it, because it checks again, or meets sees the new leads,
// because it reads them after it has recorded the section. Called under the loop's lock.
func (l *Loop) retime() {
	l.putLeads(func() (*leads, int) { return l.newLeads(), 0 })
}

// retimeWith is retime after time policies were added.
func (l *Loop) retimeWith(added []*bound) {
	was := l.leads.Load()
	if was == nil {
		was = noLeads
	}
	l.putLeads(func() (*leads, int) {
		if was == nil { // the second time: leads are extended once
			return l.newLeads(), 0
		}
		k, unmet := was.with(added), len(was.unmet)
		was = nil
		return k, unmet
	})
}

// putLeads puts leads in force, of which the first so many unmet sections were in force before.
// Called under the loop's lock.
func (l *Loop) putLeads(compute func() (k *leads, unmet int)) {
	for again := true; again; {
		k, before := compute()
		l.leads.Store(k)
		again = k != nil && slices.ContainsFunc(k.unmet[before:], l.rt.hasHad)
	}
	if l.absent.n.Load() > 0 {
		l.armSweep(notify.Now()) // a policy may be about them now
	}
}

// tickBy makes the loop check its ticks at the time at, or earlier. It takes no lock. A caller that
// has set an earlier time has woken the timer for it, or is about to.
func (l *Loop) tickBy(at int64) {
	for was := l.tickAt.Load(); at < was; was = l.tickAt.Load() {
		if l.tickAt.CompareAndSwap(was, at) {
			l.rt.timer.WakeAt(at)
			return
		}
	}
}

// armStart sets the timer for the calling task, which has begun in an open slot, and returns the
// task's lead. No task waits then, so all clocks that leads depend on are at zero.
func (s *strand) armStart() (lead int64) {
	l := s.loop
	l.rt.armBeat(s.runBase.Load())
	k := l.leads.Load()
	if k == nil {
		return notify.Never
	}
	if lead = k.lead(l.rt, s.task.class, s.core.Kind); lead != notify.Never {
		l.tickBy(s.runBase.Load() + min(lead, firstSample(lead)))
	}
	return lead
}

// arm sets the timer for s, which got a slot and begins or continues. Called under the loop's lock.
func (l *Loop) arm(s *strand, now int64) {
	if l.rt.warmth.hot.Load() { // most often it is cold, and the stack may be nearly full (away)
		l.rt.armBeat(now)
	}
	k := l.leads.Load()
	if k == nil {
		return
	}
	lead := k.lead(l.rt, s.task.class, s.core.Kind)
	if lead == notify.Never {
		return
	}
	gone := s.core.Ran(now)
	if k.aged {
		gone = max(gone, now-s.core.Arrived(), l.core.Oldest(now))
	}
	sample := firstSample(lead)
	switch {
	case gone <= 0:
		l.tickBy(now + min(lead, sample))
	case l.tickAt.Load() > now+min(lead-gone, sample):
		l.tickBy(min(l.soonest(s, now), now+sample))
	}
}

// armWaiting sets the timer for policies that refer to the loop, because a task has to wait and it
// may be that no task runs. Called under the loop's lock.
func (l *Loop) armWaiting(now int64) {
	if k := l.leads.Load(); k != nil && k.waiting != notify.Never {
		l.tickBy(now + k.waiting)
	}
}

// soonest returns the earliest time at which a policy may act on s. Called under the loop's lock.
func (l *Loop) soonest(s *strand, now int64) (at int64) {
	at = notify.Never
	for _, b := range l.hub.Listeners(uint16(stubs.Tick)) {
		if b.silent() || b.perTask && !b.watches(s) {
			continue
		}
		about := s
		if !b.perTask {
			about = nil
		}
		if wait := b.wait(about, now); wait > 0 {
			at = min(at, later(now, wait))
		} else {
			at = min(at, b.tickAfter(now))
		}
	}
	return at
}

// later returns now + d, or Never.
func later(now, d int64) int64 {
	if d >= notify.Never-now {
		return notify.Never
	}
	return now + d
}

// armSweep makes the timer look at the tasks without a slot. Called under the loop's lock.
func (l *Loop) armSweep(now int64) {
	if l.sweepAt == 0 {
		l.sweepAt, l.movedAt = now+minSweep, now
		l.rt.timer.WakeAt(l.sweepAt)
	}
}

// tickAfter returns the policy's first tick after now, for a task that gets a slot now. The last
// look at the policy may be long ago.
func (b *bound) tickAfter(now int64) int64 {
	interval := b.interval.Load()
	if b.due <= now || b.due > now+interval {
		return now + interval
	}
	return b.due
}

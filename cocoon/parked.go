package cocoon

import (
	"log/slog"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/notify"
)

// Unannounced waits. A task that sleeps, or waits for a channel, a lock or the network outside of
// Block, holds a slot without using it. In plain Go it would delay no other goroutine, so its slot
// is lent (invariant 8). To find out whether a goroutine waits takes one load of the Go
// runtime's own record (package goroutine).
//
//  1. When a task has to wait for a slot, on arrival or when it comes back, it looks at the
//     goroutine of each holder of a slot, under the loop's lock. A waiting holder loses its slot
//     and counts as blocked from then on: it is parked, in absent.parked.
//  2. A holder may begin to wait after that. So the timer looks again while a task waits, first
//     after minLook, then less and less often, up to maxLook, as long as it finds no holder
//     waiting.
//  3. A parked task that wakes runs on without a slot. It surfaces when it next takes the loop's
//     lock, when a request is posted to it, or when the timer finds it running (aside.go). From
//     then on it is in absent.lent and its time counts as running again, and at its next safe point
//     it asks for a slot.
//
// The timer also sees system calls. Most of them take microseconds, so a holder counts as waiting
// only if two consecutive looks find it in a system call.
//
// Exclusive loops keep their slots. Loops made by NewLoop with one slot keep it until StallAfter,
// because their tasks may rely on being atomic towards each other, and a task that comes back from
// its wait runs concurrently with another until its next safe point. The default loop lends at
// once, whatever its number of slots.

const (
	maxLook = int64(1200 * time.Microsecond)

	// rareLook is the longest time between two looks while the slots change hands fast,
	// fastTurnover times each from one look to the next, and no holder was found waiting for
	// noneWaits. A saturated server has waiting tasks all the time. There each arriving task looks
	// at the holders, and each look by the timer costs several switches between threads. Where
	// holders do wait, the waiting tasks depend on the looks.
	rareLook     = int64(10 * time.Millisecond)
	noneWaits    = int64(100 * time.Millisecond)
	fastTurnover = 8
)

// waits reports whether the goroutine of s waits. Called under the loop's lock, for a task that
// holds a slot.
func (s *strand) waits() bool {
	switch s.status() {
	case goroutine.Waiting: // or it waits for this lock
		s.inCall = false
		return !s.loop.guard.waitedFor(s.g.Load())
	case goroutine.Syscall:
		was := s.inCall
		s.inCall = !s.inBrief() // which is many short ones
		return was && s.inCall
	}
	s.inCall = false
	return false
}

// lendWaits lends the slots of holders that wait unannounced, until no task waits for a slot. It
// reports whether it lent a slot. Called under the loop's lock, after gather.
func (l *Loop) lendWaits(now int64) (lent bool) {
	if !l.lends() {
		return false
	}
	for i := range l.slots {
		s := l.slots[i].firm()
		if s == nil {
			continue
		}
		if !s.waits() {
			// A holder that is back from a wait just now says nothing.
			if s.status() != goroutine.Ready {
				s.task.class.seen.running(now)
			}
			continue
		}
		if l.park(s, now) && inside.Brief(s.brief.Load()) != inside.Works {
			l.waited(s.task.class)
		}
		if lent = true; !l.core.Wanted() {
			break
		}
	}
	if lent {
		l.lookEvery, l.lookAt, l.lentAt = minLook, now+minLook, now
	}
	return lent
}

// lendTo lends the slots of holders that wait unannounced, for s, which has to wait for a slot. It
// reports whether s may go on now: with a slot, or as an extra task. Called under the loop's lock
// by the goroutine of s.
func (l *Loop) lendTo(s *strand, now int64) (granted bool) {
	l.asks = s
	if l.noteWaiters(); !s.onSlot() {
		l.lendWaits(now)
	}
	if l.asks = nil; !s.onSlot() {
		if l.startExtras(now) && s.lent.isExtra() {
			<-s.token()
			return true
		}
		l.contended = true
		l.rt.timer.WakeAt(l.heatForHolders(now))
		return false
	}
	<-s.token() // deliver has just sent it
	return true
}

// park takes the slot of s, which holds it and waits, and gives it to the tasks that wait for a
// slot. If a throw is pending, s counts as running. park reports whether the wait is
// unannounced. Called under the loop's lock.
func (l *Loop) park(s *strand, now int64) (unannounced bool) {
	if s.settleRest(now) { // a brief call, or a Block that has just begun
		l.deliver(now)
		return false
	}
	s.sampleWait(now)
	l.setAside(s, now)
	l.deliver(now)
	return true
}

// sampleWait samples a task whose slot is lent because its goroutine waits. The wait began before
// the look that has found it. If the goroutine has stopped once since its stretch began, the
// stretch tells when, at best. Otherwise it has waited more than once since then, or has moved to
// another thread, and surveys bound how much of the time since the last sample counts. When all of
// it counted, a limit of 20 ms threw into tasks that had run for 2 and waited often, while other
// tasks waited for slots. Called under the loop's lock.
func (s *strand) sampleWait(now int64) {
	k := s.loop.leads.Load()
	if k == nil {
		return
	}
	lead, ran := k.lead(s.loop.rt, s.task.class, s.core.Kind), s.core.Ran(now)
	if !s.isExact(lead, ran) {
		return
	}
	span := now - s.sampled
	off, known := s.lookAtStretch(now)
	if !known {
		if off = min(max(off, s.unproved(span, lead, now)), span); off > 0 {
			s.core.Discount(off, true, now)
			s.runBase.Store(now - s.core.Ran(now))
		}
	}
	s.sampled = max(s.sampled, now)
}

// waited counts an unannounced wait of a task of the class. Once it is clear that the class's tasks
// wait more than they run, waited logs it, once.
func (l *Loop) waited(c *class) {
	l.stats.waits.Add(1)
	c.lent.Add(1)
	if c.seen.waiting(); c.seen.mostlyWait() && c.reported.CompareAndSwap(false, true) {
		l.reportWaits(c)
	}
}

// findWaits lends the slots of tasks that have begun to wait while another task waits for a slot.
// It returns when to look again. Called by the timer, under the loop's lock.
func (l *Loop) findWaits(now int64) (next int64) {
	if !l.lends() {
		return notify.Never
	}
	wanted := l.core.Wanted()
	if now >= l.lookAt {
		most := maxLook
		if now-l.lentAt > noneWaits && l.busy-l.lookBusy >= int64(fastTurnover*len(l.slots)) {
			most = rareLook
		}
		l.lookBusy = l.busy
		if wanted && !l.lendWaits(now) && !l.startExtras(now) || !wanted && most == rareLook {
			l.lookEvery = min(max(minLook, 2*l.lookEvery), most)
			l.lookAt = now + l.lookEvery
		}
	}
	if !wanted {
		return notify.Never
	}
	return l.lookAt
}

// starved counts a task that passes no safe point because it has no processor, and logs it at most
// once a second. No task is at fault then: the process has too few processors, or the kernel gave
// them to other processes. Called under the loop's lock.
func (l *Loop) starved(s *strand, silent time.Duration) {
	if l.stats.starved.Add(1); !l.stats.starvedLogs.due(notify.Now()) {
		return
	}
	l.rt.log.add(slog.LevelInfo, "cocoon: a task that is ready to run had no processor; no task is to blame",
		"task", s.task.Path(), "loop", l.cfg.Name, "silent", silent, "times", l.stats.starved.Load())
}

// reportWaits logs that tasks of the class wait unannounced.
func (l *Loop) reportWaits(c *class) {
	l.rt.log.add(slog.LevelInfo, "cocoon: tasks wait unannounced; their slots are lent meanwhile. cocoon.Block around the wait would save the search for them",
		"task", c.text, "loop", l.cfg.Name, "waits", c.lent.Load())
}

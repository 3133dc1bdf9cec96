package cocoon

import (
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
)

// Extra tasks. Slots bound how many tasks run, but not how many other goroutines do: connections,
// client libraries, and tasks that stand aside. If these want the Ps too, a holder of a slot may
// wait for a P in the Go runtime's queue, behind all of them, and meanwhile its slot is not used.
// Then each task gets through the loop's queue one such wait after another, while in plain Go all
// tasks would wait for Ps at the same time.
//
//  1. A task that has to wait for a slot looks at the holders, and so does the timer while a task
//     waits (parked.go). While one of them has no P, and the process is saturated, the next waiting
//     tasks start without a slot: they are extra tasks.
//  2. There are at most extraPerSlot extra tasks for each slot, times the share of other goroutines
//     in those that want a P, as the timer counts them every 10 ms. So tasks that compute do not
//     crowd out each other's slots, and the queue stays where policies see it. It is the share and
//     not the number of others: where tasks and other goroutines work for each other, as the
//     handlers of streams and their connections do, there is little other work while the tasks
//     queue.
//  3. An extra task counts as running, and time policies act on it. It is not asked to get a slot
//     before it has run for extraFor: a sweep (aside.go) then asks it, like a task that has come
//     back from an unannounced wait.
const (
	extraPerSlot = 16
	extraFor     = int64(10 * time.Millisecond) // the time slice of a goroutine

	// leastShare is the share of other goroutines, in percent, below which no extra task starts:
	// the garbage collector and the like want a P at times, too.
	leastShare = 25

	// soonRuns is how long a task may take to get a P after it has got a slot. Usually it is the next
	// that the P runs.
	soonRuns = int64(100 * time.Microsecond)
)

// startExtras lets waiting tasks run without a slot, if holders have no P, and reports whether it
// did. Called under the loop's lock, after lendWaits.
func (l *Loop) startExtras(now int64) (some bool) {
	if !l.lends() || !l.holderLacksP(now, soonRuns) || !l.rt.saturated(now) {
		return false
	}
	for most := l.mostExtras(); l.absent.extras < most; {
		t := l.core.StartLent(now)
		if t == nil {
			break
		}
		l.startExtra(t.Owner.(*strand), now)
		some = true
	}
	if some {
		l.lookEvery, l.lookAt = minLook, now+minLook
		l.rt.armGaps()
		l.movedAt = now
		if at := now + extraFor; l.sweepAt == 0 || l.sweepAt > at {
			l.sweepAt = at
			l.rt.timer.WakeAt(at)
		}
	}
	return some
}

// startExtra makes s, to which the core has lent nothing but the right to run, an extra task.
func (l *Loop) startExtra(s *strand, now int64) {
	l.absent.addLent(s)
	l.absent.extras++
	s.lent.Store(extraTask)
	l.runsLent(s, now)
	if s.unseated {
		l.leftQueue(s, now)
	}
	s.token() <- struct{}{}
}

// holderLacksP reports whether the goroutine of a task that holds a slot is ready to run, and waits
// for a P. A goroutine that was woken less than grace ago does not count. Called under the loop's
// lock.
func (l *Loop) holderLacksP(now, grace int64) bool {
	for i := range l.slots {
		h := l.slots[i].firm()
		if h == nil || h.rest.Load() < 0 {
			continue
		}
		switch h.status() {
		case goroutine.Ready:
			if now-h.restedAt.Load() >= grace {
				return true
			}
		case goroutine.Runnable:
			return true
		}
	}
	return false
}

// mostExtras returns how many extra tasks the loop may have now. Called under the loop's lock.
func (l *Loop) mostExtras() int {
	others := int(l.rt.warmth.others.Load())
	if others < leastShare {
		return 0
	}
	return others * extraPerSlot * l.core.Slots() / 100
}

package cocoon

import (
	"github.com/cocoon-go/cocoon/notify"
)

// Rests. Most Blocks are short, and most begin and end while no task waits for a slot: the message
// has already arrived, the socket has room. To give up the slot and to get one again takes the
// loop's lock twice and, with more tasks than slots, a switch between goroutines. So a task that
// begins a Block rests: it keeps its slot until another task needs one, or other code looks at the
// task.
//
//  1. strand.rest is 0, or how long the task has rested since its account was last settled. While
//     the task rests it is negative: that time minus the time when the rest began. The task's
//     goroutine adds to it, and the holder of the loop's lock takes all of it by one exchange. So
//     at the end of a rest the task finds out from one word whether its slot was taken meanwhile.
//  2. A task that has to wait for a slot gathers, and takes the slot of a resting task. The resting
//     task is blocked from then on, as if it had given up its slot. Code that looks at tasks does
//     the same: time policies, Cancel, and every caller of lockAll.
//  3. While a task waits for a slot, no task begins to rest, because Loop.wanted is set. A task
//     that is about to wait first sets the word and then looks for resting tasks. A task that
//     begins to rest first says so and then reads the word. So at least one of the two sees the
//     other.
//
// A task that waits for the loop's lock to give its slot up rests meanwhile, although other tasks
// wait: they get the slot as soon as it has the lock (lockAtRest).
//
// A task in a brief call rests even while other tasks wait. Until its goroutine is found waiting,
// only the looks of rule 2 take its slot: see brief.go.
//
// The time that a task has rested does not count as running, to the nanosecond. The exception is a
// brief call that sends or receives a message and never stops running: it has not waited, so it
// counts as running (forgetRest).

// endRest reports whether the task, which may have rested, still has its slot.
func (s *strand) endRest() bool {
	for {
		rest := s.rest.Load()
		if rest >= 0 {
			return false
		}
		now := notify.Now()
		s.restedAt.Store(now)
		if s.rest.CompareAndSwap(rest, max(0, rest+now)) {
			return true
		}
	}
}

// forgetRest ends a rest during which the goroutine has not stopped running: the rest counts as
// running, and no clock is read. rested is how long the task had rested before. forgetRest reports
// whether the task still has its slot.
func (s *strand) forgetRest(rested int64) bool {
	rest := s.rest.Load()
	return rest < 0 && s.rest.CompareAndSwap(rest, rested)
}

// settleRest subtracts the rests of a task that holds a slot from its running time. If the task
// rests now, settleRest takes its slot and reports true. Called under the loop's lock; the caller
// delivers the slot.
func (s *strand) settleRest(now int64) (took bool) {
	if s.rest.Load() == 0 {
		return false
	}
	l, rest, end := s.loop, s.rest.Swap(0), s.restedAt.Load()
	if took = rest < 0; took {
		rest, end = max(0, rest+now), now // now may be the time just before the rest began
	}
	l.core.Rested(&s.core, rest, end)
	s.runBase.Store(now - s.core.Ran(now))
	if took {
		// It announces its waits, which is no reason to let its class stand aside.
		s.task.class.seen.running(now)
		if s.findsSlow() {
			s.slow.Store(slowCalls)
		}
		l.unseat(s, now)
		l.core.Block(&s.core, now)
	}
	return took
}

// takeRests settles the tasks that hold slots, until it has taken most slots. It takes the slot of
// a task in a brief call only if the goroutine has waited, or if brief is set. now is the time, or
// 0 if the caller has not read it. Called under the loop's lock, after adopt.
func (l *Loop) takeRests(most int, brief bool, now int64) {
	for i := range l.slots {
		s := l.slots[i].firm()
		if s == nil || s.rest.Load() == 0 || !brief && s.inBrief() && !s.hasWaited() {
			continue
		}
		if now == 0 {
			now = notify.Now()
		}
		if s.settleRest(now) {
			l.deliver(now)
			if most--; most == 0 {
				return
			}
		}
	}
}

// noteWaiters says whether a task is suspended, and whether one waits for a slot, or none may rest
// because it would be counted in its class as one that runs. Called under the loop's lock before it
// is given back.
func (l *Loop) noteWaiters() {
	if suspends := l.core.Suspended() > 0; suspends != l.suspends.Load() {
		l.suspends.Store(suspends)
	}
	wanted := l.core.Wanted() || l.meter != nil && len(l.meter.class) > 0
	if wanted == l.wanted.Load() {
		return
	}
	if l.wanted.Store(wanted); wanted {
		l.takeRests(len(l.slots), false, 0) // of tasks that have just begun to rest
	}
}

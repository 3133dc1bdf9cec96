package cocoon

import (
	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// Rests. Most Blocks are short, and most begin and end while nobody waits for a slot: the message
// is there already, the socket has room. To give the slot up and to get it again takes the loop's
// lock twice, and where tasks are more than slots a switch between goroutines. So a task that
// begins a Block rests: it keeps its slot until another task needs one, or somebody looks.
//
//  1. strand.rest is 0, or how long the task has rested since its account was last settled;
//     negative while it rests: less the time when it began. The task's goroutine adds, whoever has
//     the loop's lock takes all of it by one exchange. So at the end of a rest the task finds out
//     by one word whether its slot was taken meanwhile.
//  2. Who has to wait for a slot gathers, and takes the slot of a task that rests. It blocks from
//     then on, as if it had given the slot up. So do those who look: time policies, Cancel, whoever
//     takes the lock by lockAll.
//  3. While a task waits for a slot nobody begins to rest: Loop.wanted says so. Who is about to
//     wait sets the word and looks for those that rest, who begins to rest says so and looks at the
//     word. So one of them sees the other.
//
// A task in a brief call rests also while other tasks wait. Until its goroutine is found parked,
// only rule 2's looks take its slot: see brief.go.
//
// What a task has rested is no running, to the nanosecond.

// beginRest begins a Block.
func (s *strand) beginRest() {
	l := s.loop
	if l.wanted.Load() || !s.mayRest() {
		s.block()
		return
	}
	s.blocked = true
	set(&s.brief, false)
	s.rest.Add(-notify.Now())
	if l.wanted.Load() && s.endRest() {
		s.block()
	}
}

// mayRest reports whether the task can begin a Block and keep its slot.
func (s *strand) mayRest() bool {
	rt := s.loop.rt
	return !s.lent.Load() && s.requests.Load() == 0 && rt.gaps == nil && rt.tenants.Load() == nil
}

// afterRest ends a Block.
func (s *strand) afterRest() {
	if !s.endRest() {
		s.unblock()
		return
	}
	s.blocked = false
	if s.breath.looked = 0; s.loop.wants(stubs.Unblock) { // what it has run for before was before a pause
		s.loop.happened(s, stubs.Unblock)
	}
}

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

// rested returns how long the task has rested since its account was settled, and whether it does
// now.
func (s *strand) rested(now int64) (d int64, rests bool) {
	if d, rests = s.rest.Load(), false; d < 0 {
		d, rests = max(0, d+now), true
	}
	return d, rests
}

// settlePast takes what the task has rested before off its running time, if it holds a slot. It may
// begin to rest at this very moment, if the caller is not its goroutine: then nothing is settled
// here, and it finds out at the end of the rest.
func (s *strand) settlePast(now int64) {
	if rest := s.rest.Load(); rest > 0 && s.core.State() == sched.Running && s.rest.CompareAndSwap(rest, 0) {
		s.loop.core.Rested(&s.core, rest, s.restedAt.Load())
		s.runBase.Store(now - s.core.Ran(now))
	}
}

// settleRest takes what the task, which holds a slot, has rested off its running time; and if it
// rests now, its slot from it. It reports whether it did that. Called under the loop's lock; who
// calls it delivers.
func (s *strand) settleRest(now int64) (took bool) {
	if s.rest.Load() == 0 {
		return false
	}
	l, rest, end := s.loop, s.rest.Swap(0), s.restedAt.Load()
	if took = rest < 0; took {
		rest, end = rest+now, now
	}
	l.core.Rested(&s.core, rest, end)
	s.runBase.Store(now - s.core.Ran(now))
	if took {
		s.task.class.seen.running() // it says when it waits: no reason to have its like stand aside
		if s.brief.Load() && s.waitsInCall() {
			s.slow.Store(slowCalls)
		}
		l.unseat(s, now)
		l.core.Block(&s.core, now)
		s.insist()
	}
	return took
}

// takeRests settles the tasks that hold slots, until it has taken as many slots as asked for. It
// takes a slot from a task in a brief call only if the goroutine is parked, or if brief is set.
// Called under the loop's lock, after adopt.
func (l *Loop) takeRests(most int, brief bool) {
	now := int64(0)
	for i := range l.slots {
		s := l.slots[i].firm()
		if s == nil || s.rest.Load() == 0 || !brief && s.inBrief() && !s.waitsInCall() {
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

// noteWaiters says whether a task waits for a slot. Called under the loop's lock before it is given
// back.
func (l *Loop) noteWaiters() {
	wanted := l.core.Wanted()
	if wanted == l.wanted.Load() {
		return
	}
	if l.wanted.Store(wanted); wanted {
		l.takeRests(len(l.slots), false) // of those that began just now
	}
}

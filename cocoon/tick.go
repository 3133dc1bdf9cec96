package cocoon

import (
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
)

const (
	// hush is how long the word stays up for a task that does not answer; then it is lowered, so
	// that the polls of others are cheap again, and raised after a pause that doubles from minPause
	// to maxPause. It is longer than a tick of most kernels, because a task whose core was taken
	// answers that late: lowered before, the word would have to wait for its turn again. For the
	// same reason the first pauses are short: a task that shares its core with two busy processes
	// comes back when the word is down, and a pause of 5 ms then makes a throw 12 ms late instead
	// of 7.
	hush     = int64(5 * time.Millisecond)
	minPause = int64(500 * time.Microsecond)
	maxPause = int64(80 * time.Millisecond)

	// flight is how long it stays up for a throw on its way. That is at its boundary in
	// microseconds, if the kernel does not take the core; and where code recovers it, it is to be
	// met at the next safe point and not a little later.
	flight = int64(100 * time.Millisecond)

	// grace is how long a task may take to answer a throw before its context ends without that, if
	// it waits: for it may wait for just this; and how soon a throw that was swallowed comes again.
	grace = int64(500 * time.Microsecond)

	// graceOfBusy is the same of a task that runs, or is ready to run and has no processor. It does
	// not wait, and will answer at its next safe point; a context that ends before costs a
	// connection whose transaction it would roll back.
	graceOfBusy = 10 * grace
)

// onTimer is the timer's handler: time policies, unanswered requests, stalls. It runs on the
// timer's thread and returns when it must run again.
func (rt *Runtime) onTimer(now int64) (next int64) {
	rt.sample.tick(now)
	next = notify.Never
	cpu := rt.cpu.sample(now)
	for _, l := range *rt.loops.Load() {
		next = min(next, l.onTimer(now, cpu))
	}
	next = min(next, rt.keepHeat(now), rt.listened(now))
	rt.sample.expect(next)
	return next
}

func (l *Loop) onTimer(now int64, cpu cpuSample) (next int64) {
	l.lock()
	defer l.unlock()
	next = l.ticks(now, cpu)
	for i := range l.slots {
		if s := l.slots[i].firm(); s != nil {
			next = min(next, s.nag(now), l.checkStall(s, now), s.probe(now))
		}
	}
	for _, s := range l.absent.lent {
		next = min(next, s.nag(now), s.probe(now))
	}
	if l.absent.n.Load() > 0 {
		next = min(next, l.sweep(now))
	}
	if l.contended {
		l.contended = l.core.Wanted()
		l.rt.followSoon(now)
		next = min(next, l.look(now), l.heatForHolders(now), now+max(int64(time.Millisecond), int64(l.rt.cfg.StallAfter)/2))
	}
	return next
}

// nag lowers the word for a task that does not poll, and raises it again after a pause. A throw
// that is overdue ends the context, for what waits for that.
func (s *strand) nag(now int64) (next int64) {
	switch {
	case s.requests.Load()&wantGap != 0: // or the gap would seem to go on while the word is down
		next = now + hush
	case s.raised && now-s.raisedAt >= hush && s.met.Swap(false):
		s.raisedAt, s.pause = now, 0 // it polls: the first poll that is not masked is to find the word up
		next = now + hush
	case s.raised && now-s.raisedAt >= hush:
		s.quiet()
		s.pause = min(max(2*s.pause, minPause), maxPause)
		next = now + s.pause
	case s.raised:
		next = s.raisedAt + hush
	case s.requests.Load() == 0:
		return notify.Never
	case s.audible() > now:
		return s.audible()
	case now-s.raisedAt >= hush+s.pause:
		s.raise(now)
		next = now + hush
	default:
		next = s.raisedAt + hush + s.pause
	}
	if p := s.pending; p != nil && !p.overdue && !p.flying {
		at := s.postedAt + grace
		if now >= at {
			switch goroutine.StatusOf(s.g.Load()) {
			case goroutine.Running, goroutine.Runnable:
				at = s.postedAt + graceOfBusy
			}
		}
		if now < at {
			return min(next, at)
		}
		if s.insist(); !s.raised { // what ends its wait brings it to a safe point
			s.raise(now)
			next = min(next, now+hush)
		}
	}
	return next
}

// checkStall lends the slot of a task that holds it while others wait, and passes no safe point:
// first it is probed, and when it has not answered within StallAfter its slot goes to a waiting
// task (invariant 8). When the timer itself came late the kernel is short of processors, and the
// task may be silent for no other reason: it gets another turn.
func (l *Loop) checkStall(s *strand, now int64) (next int64) {
	limit := int64(l.rt.cfg.StallAfter)
	if limit <= 0 || l.cfg.Exclusive || !l.core.Wanted() {
		return notify.Never
	}
	silent := now - max(s.core.Since(), s.lastSafe)
	if silent < limit/2 {
		return now - silent + limit/2
	}
	if s.requests.Load() == 0 || s.audible() > now {
		s.post(wantProbe, now)
	}
	asked := now - s.postedAt
	if silent < limit || asked < limit/2 {
		return now + max(limit-silent, limit/2-asked)
	}
	if l.rt.sample.late.Load() > limit/4 {
		return now + limit/4
	}
	switch goroutine.StatusOf(s.g.Load()) {
	case goroutine.Parked, goroutine.Syscall:
		l.park(s, now)
	case goroutine.Runnable:
		l.starved(s, time.Duration(silent))
		return now + limit/4 // to lend its slot would only make one more that waits for a processor
	default:
		l.lend(s, now)
	}
	return now + limit/2 // whoever has the slot now
}

package cocoon

import (
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

const (
	// linger is how long the timer goes on after a loop became quiet: a busy server would otherwise pay the system call
	// that wakes it for every task.
	linger = int64(10 * time.Millisecond)

	// hush is how long the word stays up for a task that does not answer; then it is lowered, so that the polls of
	// others are cheap again, and raised after a pause that doubles from minPause to maxPause. It is longer than a tick of
	// most kernels, because a task whose core was taken answers that late: lowered before, the word would have to wait
	// for its turn again. For the same reason the first pauses are short: a task that shares its core with two busy
	// processes comes back when the word is down, and a pause of 5 ms then makes a throw 12 ms late instead of 7.
	hush     = int64(5 * time.Millisecond)
	minPause = int64(500 * time.Microsecond)
	maxPause = int64(80 * time.Millisecond)

	// flight is how long it stays up for a throw on its way. That is at its boundary in microseconds, if the kernel does not
	// take the core; and where code recovers it, it is to be met at the next safe point and not a little later.
	flight = int64(100 * time.Millisecond)

	// grace is how long a running task may take to answer a throw that ends it before its context ends without that, for
	// it may be waiting for just this; and how soon a throw that was swallowed comes again.
	grace = int64(500 * time.Microsecond)
)

// onTimer is the timer's handler: time policies, unanswered requests, stalls. It runs on the timer's thread and
// returns when it must run again.
func (rt *Runtime) onTimer(now int64) (next int64) {
	rt.sample.tick(now)
	next = notify.Never
	pace, least := rt.pace.Load(), int64(notify.Never)
	cpu := rt.cpu.sample(now)
	for _, l := range *rt.loops.Load() {
		soonest, interval := l.onTimer(now, cpu)
		next, least = min(next, soonest), min(least, interval)
	}
	rt.pace.CompareAndSwap(pace, paceOf(least)) // who has changed it meanwhile has the timer come again
	rt.sample.expect(next)
	return next
}

// onTimer also returns the least interval of the loop's time policies.
func (l *Loop) onTimer(now int64, cpu cpuSample) (next, least int64) {
	l.lock()
	defer l.unlock()
	next, least = notify.Never, notify.Never
	if l.wants(stubs.Tick) {
		sample := l.sampleRan(now, cpu)
		l.gather()
		next, least = l.evaluateTicks(now)
		next = min(next, sample)
	}
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
		next = min(next, l.look(now), now+max(int64(time.Millisecond), int64(l.rt.cfg.StallAfter)/2))
	}
	return next, least
}

// evaluateTicks evaluates the time policies that are due. When nothing runs or waits any more each is evaluated once
// again, so that a policy about the loop sees the quiet, and not before something happens after that.
func (l *Loop) evaluateTicks(now int64) (next, least int64) {
	next, least = notify.Never, notify.Never
	quiet := l.quietAt != 0 && len(l.absent.lent) == 0
	if n, _ := l.quickEnded(); n != l.quickSeen {
		l.quickSeen = n
		if quiet {
			quiet, l.quietAt = false, now
		}
	}
	for _, b := range l.hub.Listeners(uint16(stubs.Tick)) {
		if b.version.off.Load() {
			continue
		}
		interval := b.interval.Load()
		if b.due > now+interval {
			b.due = now + interval // the interval was shortened
		}
		if now >= b.due && !(quiet && b.sawQuiet) {
			l.evaluateEach(b, now)
			b.sawQuiet, interval = quiet, b.interval.Load() // it may have changed it
			if b.due += interval; b.due <= now {
				b.due = now + interval // missed ticks are not made up for
			}
		}
		if !quiet || !b.sawQuiet || now-l.quietAt < linger {
			next = min(next, max(b.due, now+interval/4))
		}
		least = min(least, interval)
	}
	return next, least
}

// nag lowers the word for a task that does not answer, and raises it again after a pause. A throw towards a section that
// is overdue ends the task's context, for what waits for that.
func (s *strand) nag(now int64) (next int64) {
	switch {
	case s.requests.Load()&wantGap != 0: // or the gap would seem to go on while the word is down
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
	if p := s.pending; p != nil && !p.overdue {
		at := s.postedAt + grace
		if p.section != 0 {
			at = s.postedAt + int64(s.loop.rt.stallAfter())
		}
		if now < at {
			return min(next, at)
		}
		s.insist()
	}
	return next
}

// checkStall lends the slot of a task that holds it while others wait, and passes no safe point: first it is probed, and
// when it has not answered within StallAfter its slot goes to a waiting task (invariant 8). When the timer itself came
// late the kernel is short of processors, and the task may be silent for no other reason: it gets another turn.
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

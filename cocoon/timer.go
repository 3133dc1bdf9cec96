package cocoon

import (
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
)

const (
	minPause = int64(500 * time.Microsecond)
	maxPause = int64(80 * time.Millisecond)

	// starvedFor is the least time for which a holder without a processor keeps its slot. Go gives
	// a goroutine 10 ms at a time, so a holder that does run is found running within that time.
	starvedFor = int64(40 * time.Millisecond)
)

// onTimer is the timer's handler. It handles time policies, pending requests and stalls. It runs on
// the timer's thread and returns when it must run again.
func (rt *Runtime) onTimer(now int64) (next int64) {
	rt.sample.tick(now)
	next = notify.Never
	cpu := rt.cpu.sample(now, rt.ticks())
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
	next = l.makeSurvey(now)
	next = min(next, l.ticks(now, cpu), l.endContexts(now))
	for i := range l.slots {
		if s := l.slots[i].firm(); s != nil {
			next = min(next, s.repeat(now), l.checkStall(s, now), s.probe(now), s.beat(now))
		}
	}
	for _, s := range l.absent.lent {
		next = min(next, s.repeat(now), s.probe(now))
	}
	if l.absent.n.Load() > 0 {
		next = min(next, l.sweep(now))
	}
	if l.contended {
		l.contended = l.core.Wanted()
		l.rt.followSoon(now)
		next = min(next, l.findWaits(now), l.findKept(now), l.heatForHolders(now), l.yieldToImpatient(now), now+max(int64(time.Millisecond), int64(l.rt.cfg.StallAfter)/2))
	}
	return next
}

// repeat lowers the word for a task that does not poll, and raises it again after a pause. The
// pause spares other polls. A SafePoint of the task finds the request nevertheless, see
// breather.divert.
func (s *strand) repeat(now int64) (next int64) {
	if s.raised {
		s.lookForP()
	}
	switch {
	case s.requests.Load()&wantGap != 0: // otherwise the gap would seem to last while the word is lowered
		next = now + raisedFor
	case s.raised && now-s.raisedAt >= raisedFor && (s.lacksP || s.polls()):
		s.raisedAt, s.pause = now, 0
		next = now + raisedFor
	case s.raised && now-s.raisedAt >= raisedFor:
		s.lower()
		s.pause = min(max(2*s.pause, minPause), maxPause)
		next = now + s.pause
	case s.raised:
		next = s.raisedAt + raisedFor
	case s.requests.Load() == 0:
		return notify.Never
	case s.respondsFrom() > now:
		return s.respondsFrom()
	case now >= s.endOfGrace():
		s.raise(now)
		s.pause = 0
		next = now + raisedFor
	case now-s.raisedAt >= raisedFor+s.pause:
		s.raise(now)
		next = now + raisedFor
	default:
		next = min(s.raisedAt+raisedFor+s.pause, s.endOfGrace())
	}
	if p := s.pending; p != nil && !p.flying {
		s.logLate(p, now)
	}
	return next
}

// endOfGrace returns when the throw will have waited long enough for releases, unless the word has
// been raised since. Called under the loop's lock.
func (s *strand) endOfGrace() int64 {
	p := s.pending
	if p == nil || p.flying || p.waitsAt.Load() == 0 {
		return notify.Never
	}
	at := p.waitsAt.Load() + int64(releaseGrace)
	if s.raisedAt >= at {
		return notify.Never
	}
	return at
}

// polls reports whether the task has passed a masked poll and runs on, so that its next unmasked
// poll must find the word raised.
func (s *strand) polls() bool {
	left := s.met.Load()
	if left == 0 {
		return false
	}
	s.met.CompareAndSwap(left, left-1) // else it has passed another
	switch s.status() {
	case goroutine.Waiting, goroutine.Syscall:
		return false
	}
	return true
}

// checkStall lends the slot of a task that passes no safe point while other tasks wait for a slot.
// First it probes the task. If the task has not responded within StallAfter, its slot goes to a
// waiting task (invariant 8). The time by which the timer itself was late does not count, because
// the process may have been stopped; and after a late timer the task gets another chance, once.
//
// If nothing declares the task's kind, its safe points do not count here: it gives its slot back at
// the one after StallAfter, as plain Go takes the processor from it, and nothing is reported.
// Tasks of a loop made by NewLoop with one slot may rely on being atomic between the safe points in
// their source, so there only the polls that cocoon build inserted do not count.
//
// A holder that is ready to run but has no processor is not to blame. It keeps its slot for twice
// StallAfter, and at least for starvedFor. Then the slot is lent without a report: in plain Go,
// too, the waiting task would compete for the processors. If no more goroutines want a processor
// than there are Ps, the holder runs, and only the timer has its P at the moment.
func (l *Loop) checkStall(s *strand, now int64) (next int64) {
	limit := int64(l.rt.cfg.StallAfter)
	if limit <= 0 || l.cfg.Exclusive || !l.core.Wanted() {
		return notify.Never
	}
	silent := now - max(s.core.Since(), s.lastSafe)
	if silent < limit/2 {
		return now - silent + limit/2
	}
	polls := s.polled && s.requests.Load() == 0 && now-s.postedAt < silent
	if !polls && (s.requests.Load() == 0 || s.respondsFrom() > now) {
		s.post(wantProbe, now)
	}
	asked := now - s.postedAt
	if polls {
		asked = limit
	}
	if silent < limit || asked < limit/2 {
		return now + max(limit-silent, limit/2-asked)
	}
	if late := l.rt.sample.late.Load(); silent-late < limit || late > limit/4 && silent < 2*limit {
		return now + limit/4
	}
	switch st := s.status(); {
	case st == goroutine.Waiting || st == goroutine.Syscall:
		l.park(s, now)
	case (st == goroutine.Runnable || st == goroutine.Ready) && l.rt.cpu.crowded():
		l.starved(s, time.Duration(silent))
		if silent < max(2*limit, starvedFor) {
			return now + limit/4
		}
		l.giveAway(s, now)
	case polls:
		l.giveAway(s, now)
	default:
		l.lend(s, now)
	}
	return now + limit/2 // the slot may have another holder now
}

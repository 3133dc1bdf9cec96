package cocoon

import (
	"log/slog"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/safepoint"
)

const (
	// releaseGrace is the time that a throw waits for the release of locks that it may pass, and of
	// resources that no deferred call releases. Most are released sooner: the guarded data is then
	// complete, and no resource is lost.
	releaseGrace = 20 * time.Millisecond

	// longestStep is how much of this time may pass from one poll to the next. So the time stands
	// still while the task has lost its core: on a busy machine that is longer than most releases
	// take.
	longestStep = 2 * time.Millisecond
)

// Variables, because tests shorten them.
var (
	// lateAfter is how late a throw is when the runtime logs its cause.
	lateAfter = time.Second

	// silentFor is the additional time after which the task counts as one that does not poll.
	silentFor = 200 * time.Millisecond
)

// passes reports whether the throw may unwind the locks of the walk, which deferred calls release:
// it has waited for them, and would not leave guarded data half-written. For a nil request, which
// is not a throw, it reports false: a task is not suspended under a lock.
func (p *throwRequest) passes(w *walk) bool {
	if p == nil {
		return false
	}
	if slices.ContainsFunc(w.locks, p.stopsAt) {
		return false
	}
	return p.waits()
}

// spares reports whether the throw waits for a function of the walk to release a resource, because
// no deferred call would. It waits for releaseGrace, like a throw that may pass a lock, and has one
// such time: the next resource gets what is left.
func (p *throwRequest) spares(w *walk) bool {
	if p == nil || !w.byHand {
		return false
	}
	if w.by != "" || w.cleansUp || slices.ContainsFunc(w.locks, p.stopsAt) {
		return true // it waits for something else so far
	}
	return !p.waits()
}

// spares is the same for the strand's pending throw.
func (s *strand) spares(w *walk) bool {
	s.loop.lock()
	p := s.pending
	s.loop.unlock()
	return p.spares(w)
}

// waits begins the time for which the throw waits for releases, and reports whether it is over.
func (p *throwRequest) waits() (over bool) {
	if p.waitsAt.Load() == 0 {
		p.polledAt = notify.Now()
		p.waitsAt.Store(p.polledAt)
	}
	return p.waited()
}

// stopsAt reports whether the throw must wait for the release of a lock.
func (p *throwRequest) stopsAt(lock heldLock) bool {
	return !p.force && lock.how != safepoint.Unharmed && !slices.Contains(unwindable, packageOf(lock.at.Function))
}

// waited reports whether the throw has waited long enough for releases. The task's goroutine calls
// it at each poll.
func (p *throwRequest) waited() bool {
	if p == nil {
		return false
	}
	at := p.waitsAt.Load()
	if at == 0 {
		return false
	}
	now := notify.Now()
	if lost := now - p.polledAt - int64(longestStep); lost > 0 {
		at += lost
		p.waitsAt.Store(at)
	}
	p.polledAt = now
	return now-at >= int64(releaseGrace)
}

// The values of throwRequest.late.
const (
	inTime  uint32 = iota
	askWhy         // the next safe point that does not take the throw logs the reason
	saidWhy        // the reason is in the log
)

// mustSay reports whether a safe point that does not take the throw must log the reason.
func (p *throwRequest) mustSay() bool { return p != nil && p.late.Load() == askWhy }

// keptAt is a place that holds up the throws of a policy, in Runtime.passedOver.
type keptAt struct{ policy, place string }

// say logs the reason why the calling task's safe point does not take the throw.
func (p *throwRequest) say(s *strand, w *walk) {
	if !p.late.CompareAndSwap(askWhy, saidWhy) {
		return
	}
	by, at, lock := w.by, w.at, w.lock
	switch {
	case by != "":
	case len(w.locks) > 0:
		l := w.locks[0]
		by, at, lock = "a lock that a deferred call releases", l.at, l.name
	case !w.cleansUp:
		by, at = "a resource that no deferred call releases", w.owner
	case w.kept:
		by, at = "a function that is kept", w.cleanup
	default:
		by, at = "a deferred call, a value that is published before it is complete, or goroutines that the function waits for", w.cleanup
	}
	p.log(s, by, lineOf(at), "at", lineOf(at), "function", at.Function, "lock", lock, "safePoint", lineOf(w.place))
}

// log logs why the throw is late, once for each policy and place. The place is "" if it is unknown:
// clients may choose names of tasks, which could fill the memory.
func (p *throwRequest) log(s *strand, by, place string, more ...any) {
	rt := s.loop.rt
	if _, known := rt.passedOver.LoadOrStore(keptAt{p.err.Policy, place}, nil); known {
		return
	}
	args := []any{"policy", p.err.Policy, "reason", p.err.Reason, "task", p.err.Task, "late", time.Duration(notify.Now() - p.at), "by", by}
	rt.log.add(slog.LevelWarn, "cocoon: a throw is late, because something keeps it", append(args, more...)...)
}

// logLate has a late throw logged, by the task's next safe point or else with the task's stack. The
// timer calls it under the loop's lock.
func (s *strand) logLate(p *throwRequest, now int64) {
	late := time.Duration(now - p.at)
	if late >= lateAfter && p.late.CompareAndSwap(inTime, askWhy) {
		p.ranBefore = s.core.Ran(now)
	}
	silent, ran := silentFor, s.core.Ran(now)-p.ranBefore
	switch s.status() {
	case goroutine.Runnable, goroutine.Ready: // it may lack a processor, and respond when it gets one
		silent *= 4
	default:
		if ran < int64(silent) { // the machine may be busy with other processes
			silent *= 4
		}
	}
	if late < lateAfter+silent || !p.late.CompareAndSwap(askWhy, saidWhy) {
		return
	}
	s.loop.rt.log.expect(slog.LevelWarn, func() {
		p.log(s, "no safe point", "", (&stallReport{s: s}).where(notify.Now())...)
	})
}

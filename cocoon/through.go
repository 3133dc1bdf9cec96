package cocoon

import (
	"log/slog"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/safepoint"
)

const (
	// lockGrace is the time that a throw waits for the release of locks that it may pass. Most
	// locks are released sooner, and the guarded data is then complete.
	lockGrace = 20 * time.Millisecond

	// overdueAfter is how late a throw is when the runtime logs its cause.
	overdueAfter = time.Second

	// silentFor is the additional time after which the task counts as one that does not poll.
	silentFor = 200 * time.Millisecond
)

// unwindable lists packages: a throw passes their locks if deferred calls release them.
// docs/safepoints.md has the reason for each.
var unwindable = []string{
	// Compiled.lock guards the globals of a script, and Abort leaves them in the same state
	"github.com/d5/tengo/v2",
}

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
	if p.lockAt == 0 {
		p.lockAt = notify.Now()
	}
	return p.waited()
}

// stopsAt reports whether the throw must wait for the release of a lock.
func (p *throwRequest) stopsAt(lock heldLock) bool {
	return !p.force && lock.how != safepoint.Unharmed && !slices.Contains(unwindable, packageOf(lock.at.Function))
}

// waited reports whether the throw has waited long enough for locks that it may pass.
func (p *throwRequest) waited() bool {
	return p != nil && p.lockAt != 0 && notify.Now()-p.lockAt >= int64(lockGrace)
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
	case w.kept:
		by, at = "a function that is kept", w.cleanup
	default:
		by, at = "a deferred call, or a value that is published before it is complete", w.cleanup
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

// urge has a late throw logged, by the task's next safe point or else with the task's stack. The
// timer calls it under the loop's lock.
func (s *strand) urge(p *throwRequest, now int64) {
	late := time.Duration(now - p.at)
	if late >= overdueAfter {
		p.late.CompareAndSwap(inTime, askWhy)
	}
	if late < overdueAfter+silentFor || !p.late.CompareAndSwap(askWhy, saidWhy) {
		return
	}
	s.loop.rt.log.expect(slog.LevelWarn, func() {
		p.log(s, "no safe point", "", (&stallReport{s: s}).where(notify.Now())...)
	})
}

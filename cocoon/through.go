package cocoon

import (
	"log/slog"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/safepoint"
)

const (
	// lockGrace is how long a throw waits for the release of locks that it may pass. Most locks are
	// released sooner, and then what they guard is complete.
	lockGrace = 20 * time.Millisecond

	// overdueAfter is how late a throw is when the log says what keeps it.
	overdueAfter = time.Second

	// silentFor is how much later the task counts as one that does not poll.
	silentFor = 200 * time.Millisecond
)

// unwindable are the packages whose locks a throw passes if deferred calls release them.
// docs/safepoints.md has the reason for each.
var unwindable = []string{
	"github.com/d5/tengo/v2", // Compiled.lock guards the globals of a script, and Abort leaves them in the same state
}

// passes reports whether the throw may unwind the locks of the walk, which deferred calls release:
// it has waited for them, and none of them guards what it might leave half-written. For nil, which
// is a request of another sort, it reports false: a task is not suspended under a lock.
func (p *throwRequest) passes(w *walk) bool {
	if p == nil {
		return false
	}
	for _, lock := range w.locks {
		if !p.force && lock.how != safepoint.Unharmed && !slices.Contains(unwindable, packageOf(lock.at.Function)) {
			return false
		}
	}
	if p.lockAt == 0 {
		p.lockAt = notify.Now()
	}
	return p.waited()
}

// waited reports whether the throw has waited for locks that it may pass for as long as it must.
func (p *throwRequest) waited() bool {
	return p != nil && p.lockAt != 0 && notify.Now()-p.lockAt >= int64(lockGrace)
}

// Values of throwRequest.late.
const (
	inTime  uint32 = iota
	askWhy         // the next safe point that does not take the throw says why
	saidWhy        // the log says it
)

// mustSay reports whether the safe point that does not take the throw must say why.
func (p *throwRequest) mustSay() bool { return p != nil && p.late.Load() == askWhy }

// keptAt is a place at which something keeps the throws of a policy, in Runtime.passedOver.
type keptAt struct{ policy, place string }

// say logs what keeps the throw at the calling task's safe point.
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
	default:
		by, at = "a deferred call", w.cleanup
	}
	p.log(s, by, lineOf(at), "at", lineOf(at), "function", at.Function, "lock", lock, "safePoint", lineOf(w.place))
}

// log logs what keeps the throw, once for each policy and place. The place is "" if it is unknown:
// names of tasks may come from clients, and would fill the memory.
func (p *throwRequest) log(s *strand, by, place string, more ...any) {
	rt := s.loop.rt
	if _, known := rt.passedOver.LoadOrStore(keptAt{p.err.Policy, place}, nil); known {
		return
	}
	args := []any{"policy", p.err.Policy, "reason", p.err.Reason, "task", p.err.Task, "late", time.Duration(notify.Now() - p.at), "by", by}
	rt.log.add(slog.LevelWarn, "cocoon: a throw is late, because something keeps it", append(args, more...)...)
}

// urge has the log say what keeps a throw that is too late: the task's next safe point does, or
// else a look at the task's stack. Called under the loop's lock, by the timer.
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

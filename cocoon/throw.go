package cocoon

import (
	"log/slog"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/notify"
)

// grace is how soon the timer looks whether a task has responded to a throw, and how soon a throw
// that was swallowed is thrown again.
const grace = int64(500 * time.Microsecond)

// postThrow asks the task to unwind at its next safe point (answerThrow), for a policy, Cancel or
// Shutdown. A pending throw stays, and the new one is dropped. The throw ends the context of the
// task, or of the section that will catch it, when it has arrived. It ends the context earlier if
// the task does not respond, because code that waits for the context does not poll: see grace.go. A
// throw into a section never ends the task's context. Called under the loop's lock.
func (s *strand) postThrow(err *PreemptedError, section uint64, now int64) bool {
	if s.pending != nil {
		return false
	}
	ends := newEndTime(s.stands(), s.core.Since(), now)
	s.pending = &throwRequest{err: err, section: section, at: now, endsAt: ends}
	s.post(wantThrow, now)
	if ends.at <= now {
		s.endEarly()
	} else {
		l := s.loop
		l.endings, l.endAt = append(l.endings, ending{s, s.pending}), min(l.endAt, ends.at)
	}
	s.loop.rt.timer.WakeAt(min(now+grace, ends.at)) // in case the task does not respond
	return true
}

// stands returns how the task stands. Called under the loop's lock.
func (s *strand) stands() standing {
	switch s.core.State() {
	case sched.Blocked:
		return calls
	case sched.Ready, sched.Suspended:
		return awaitsUs
	}
	switch s.status() {
	case goroutine.Runnable, goroutine.Ready:
		return awaitsUs
	}
	return runs
}

// endContexts ends the contexts that are due, and returns when to look again. Called by the
// timer, under the loop's lock.
func (l *Loop) endContexts(now int64) int64 {
	if len(l.endings) == 0 {
		l.endings = nil // a crowd may have left a large one
		return notify.Never
	}
	if at := max(l.endAt, l.endedAt+grace/2); now < at { // of a crowd, each has a time of its own
		return at
	}
	next, lower := int64(notify.Never), int64(notify.Never)
	l.endings = slices.DeleteFunc(l.endings, func(e ending) bool {
		s, p := e.s, e.p
		switch {
		case p.over || p.flying || p.endedEarly: // the strand may have another task by now
			return true
		case !p.endsAt.due(s.stands(), now):
			next = min(next, p.endsAt.at)
			return false
		}
		if s.endEarly(); s.onSlot() && !s.raised { // the end of its wait brings it to a safe point
			s.raise(now)
			lower = now + raisedFor
		}
		return true
	})
	l.endAt, l.endedAt = next, now
	return min(next, lower)
}

// endEarly ends the context for a throw that the task will not handle soon, because the task may be
// waiting for the context. A throw in flight gets more time, see throw. Called under the loop's
// lock.
func (s *strand) endEarly() {
	if p := s.pending; p != nil && !p.endedEarly && !p.flying {
		s.endEarlyFor(p)
	}
}

// endEarlyFor is endEarly for a throw. The context ends on another goroutine, because its end runs
// methods of derived contexts and functions that wait for the context, and the caller holds a lock.
// endEarlyFor has a frame of its own, because most tasks block without it, and each has a stack.
//
//go:noinline
func (s *strand) endEarlyFor(p *throwRequest) {
	p.endedEarly = true
	p.tell(func() string {
		if p.section != 0 {
			return "at no safe point so far; the section's own context, if it has one, has ended"
		}
		return "at no safe point so far; its context has ended"
	})
	// In a bubble the context ends after the task has unwound, because the caller may be outside of
	// the bubble.
	if t := s.task; !s.bubbled {
		go s.loop.rt.errands.endContext(s, t, p.section, p.err)
	}
}

// preempted makes the error of a throw into the task. Called under the loop's lock.
func (s *strand) preempted(policy, reason, section string, cause error, now int64) *PreemptedError {
	return &PreemptedError{
		Policy: policy, Reason: reason, Section: section, Cause: cause, Started: s.task.Status() != Starting,
		Task: s.task.Path(), Running: time.Duration(s.core.Ran(now)), account: s.account(now),
	}
}

// tellThrow logs that the policy has thrown, at most once a second, unless Config disables it. It
// may be called under any lock.
func (r *Registration) tellThrow(err *PreemptedError, where func() string) {
	if r.rt.cfg.QuietThrows || !r.stats.throwLogs.due(notify.Now()) {
		return
	}
	st, place := r.stats.snapshot(), where()
	r.rt.log.addLater(slog.LevelWarn, "cocoon: policy threw", func() []any {
		branch, _ := err.Branch()
		return []any{"policy", r.name, "task", err.Task, "reason", err.Reason, "where", place, "section", err.Section, "running", err.Running,
			"branch", branch.String(), "because", err.ruling.because(), "throws", st.Throws, "refusals", st.Refusals}
	})
}

// tell logs the throw once, if it came from a policy. It may be called under any lock.
func (p *throwRequest) tell(where func() string) {
	if r := p.by; r != nil && p.told.CompareAndSwap(false, true) {
		r.tellThrow(p.err, where)
	}
}

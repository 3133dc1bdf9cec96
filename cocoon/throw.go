package cocoon

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/safepoint"
)

// throwRequest is a pending throw.
type throwRequest struct {
	err     *PreemptedError
	section uint64        // the section that the throw is for; 0: the task
	at      int64         // time of the throw
	overdue bool          // the context was ended early, see insist; guarded by the loop's lock
	flying  bool          // it is unwinding the task, or has; guarded by the loop's lock
	by      *Registration // the policy that threw; nil: not a policy
	force   bool          // it passes all locks that deferred calls release, see passes
	client  bool          // a client was told to end, see tellDriver; owned by the task's goroutine
	// since when it waits for locks that it may pass; owned by the task's goroutine
	lockAt int64
	late   atomic.Uint32 // whether it is so late that the log says why, see say
	told   atomic.Bool   // the throw was logged
	// ends the context of a task that unwinds slowly; owned by the task's goroutine
	ends *time.Timer
}

// unwinds is how long a task may unwind before its context ends. Until then a deferred Rollback has
// a context that works. After that a deferred wait for goroutines that wait for the context comes
// to an end.
const unwinds = 100 * time.Millisecond

// due returns the throw to carry out, or nil if its section has ended meanwhile. Called under the
// loop's lock.
func (s *strand) due() *throwRequest {
	p := s.pending
	if p.section != 0 && !s.sections.has(p.section) {
		s.landed()
		s.dismiss()
		s.loop.stats.void.Add(1)
		return nil
	}
	return p
}

// throw unwinds the calling task. The error belongs to one task, so only its goroutine completes it
// here, but other goroutines may already read it as the cause of the task's context.
func (s *strand) throw(p *throwRequest) {
	err := p.err
	if err.frames.Load() == nil {
		pcs := make([]uintptr, 64)
		pcs = pcs[:runtime.Callers(3, pcs)]
		err.frames.Store(&pcs)
	}
	if p.ends == nil {
		t := s.task
		p.ends = time.AfterFunc(unwinds, func() { s.endLate(t, p) })
	}
	if s.throwing == nil {
		safepoint.Unwinds(1)
	}
	s.throwing = p
	p.tell(err.Where)
	panic(err)
}

// landed records that the throw in flight, if there is one, has reached its boundary or is void.
// Called by the task's goroutine.
func (s *strand) landed() {
	if p := s.throwing; p != nil {
		s.throwing = nil
		safepoint.Unwinds(-1)
		p.ends.Stop()
	}
}

// endLate ends the context for a throw that has been unwinding t for long. The strand may have
// another task by now, but sections of a strand are numbered, and a number is never used twice.
func (s *strand) endLate(t *Task, p *throwRequest) {
	s.loop.lock()
	section := p.section
	s.loop.unlock()
	s.endFor(t, section, p.err)
}

// endFor ends the context that a throw ends: the section's, if it has its own, or the task's.
func (s *strand) endFor(t *Task, section uint64, err *PreemptedError) {
	if section == 0 {
		t.endContext(err)
	} else {
		s.sections.endContext(section, err)
	}
}

// postThrow asks the task to unwind. A pending throw stays, and the new one is dropped. The throw
// ends the context of the task, or of the section that will catch it, when it has arrived. It ends
// the context earlier if the task does not respond, because code that waits for the context does
// not poll: at once if the task does not run, or after grace (see nag). A throw into a section
// never ends the task's context. Called under the loop's lock.
func (s *strand) postThrow(err *PreemptedError, section uint64, now int64) bool {
	if s.pending != nil {
		return false
	}
	s.pending = &throwRequest{err: err, section: section, at: now}
	s.post(wantThrow, now)
	if !s.onSlot() {
		s.insist()
	}
	s.loop.rt.timer.WakeAt(now + grace) // in case the task does not respond
	return true
}

// dismiss discards a throw that has arrived at its section, or will not arrive. The task goes on,
// and policies may throw again. Called under the loop's lock.
func (s *strand) dismiss() {
	s.pending = nil
	s.unpost(wantThrow)
	s.loop.arm(s, notify.Now())
}

// insist ends the context for a throw that the task will not handle soon, because the task may be
// waiting for the context. A throw in flight gets more time, see throw. Called under the loop's
// lock.
func (s *strand) insist() {
	if p := s.pending; p != nil && !p.overdue && !p.flying {
		s.persist(p)
	}
}

// persist is insist for a throw. The context ends on another goroutine, because that runs derived
// contexts and functions that wait for the context, and the caller holds a lock. It has a frame of
// its own, because most tasks block without it, and each has a stack.
//
//go:noinline
func (s *strand) persist(p *throwRequest) {
	p.overdue = true
	p.tell(func() string { return "at no safe point so far; its context has ended" })
	// In a bubble the context ends after the task has unwound, because the caller may be outside of
	// the bubble.
	if t := s.task; !s.bubbled {
		go s.endFor(t, p.section, p.err)
	}
}

// preempted makes the error of a throw into the task. Called under the loop's lock.
func (s *strand) preempted(policy, reason, section string, cause error, now int64) *PreemptedError {
	return &PreemptedError{
		Policy: policy, Reason: reason, Section: section, Cause: cause, Started: s.task.Status() != Starting,
		Task: s.task.Path(), Running: time.Duration(s.core.Ran(now)),
	}
}

package cocoon

import (
	"runtime"
	"time"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/safepoint"
)

// unwinds is how long a task may unwind before its context ends. Until then a deferred Rollback has
// a context that works. After that a deferred wait for goroutines that wait for the context comes
// to an end.
const unwinds = 100 * time.Millisecond

// due returns the throw to carry out, or nil if its section has ended since. Called under the
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

// throw unwinds the calling task, for the throw that postThrow has posted. The error belongs to one
// task, so only its goroutine completes it here, but other goroutines may already read it as the
// cause of the task's context.
func (s *strand) throw(p *throwRequest) {
	err := p.err
	if err.frames.Load() == nil {
		pcs := make([]uintptr, 64)
		pcs = pcs[:runtime.Callers(3, pcs)]
		err.frames.Store(&pcs)
		s.showThrow(s.task, err)
	}
	if p.ends == nil {
		t := s.task
		p.ends = time.AfterFunc(unwinds, func() { s.endLate(t, p) })
	}
	if s.throwing == nil {
		safepoint.Unwinds(1)
	}
	s.throwing = p
	p.tell(func() string {
		if s.task.Status() == Starting {
			return "on start" // the first frame is that of Run
		}
		return err.Where()
	})
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

// dismiss discards a throw that has arrived at its section, or will not arrive. The task continues,
// and policies may throw again. Called under the loop's lock.
func (s *strand) dismiss() {
	s.dropThrow()
	s.unpost(wantThrow)
	s.loop.arm(s, notify.Now())
}

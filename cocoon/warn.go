package cocoon

import (
	"context"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
)

// Throws and contexts at a Block. A throw may end the task's context, so that a call fails, the
// code returns and runs its deferred clean-up. The goroutine does not unwind then, so nothing but
// the context distinguishes clean-up from other code. Clean-up that must always run has a context
// that does not end with the task's, which plain Go requires, too.

// heedFor is the safe point at the beginning of a Block with ctx, and of a Run. It does not yield
// the core, because the core will be free anyway.
func (s *strand) heedFor(ctx context.Context) {
	if s.asked() && (s.requests.Load()&wantThrow == 0 || s.endsWith(ctx)) {
		s.answer()
	}
}

// endsWith reports whether ctx ends with the context of the task or of a section, or has already
// ended.
func (s *strand) endsWith(ctx context.Context) bool {
	done := ctx.Done()
	return done != nil && (done == s.task.cancellation().Done() || s.sections.ends(done) || ctx.Err() != nil)
}

// warn ends the context for a pending throw, unless the throw is already unwinding the task. It
// returns the throw in two cases: the throw was made for the call about to begin, because it was
// not pending before, or the task has ignored it for as long as a task may take to clean up.
func (s *strand) warn(ctx context.Context, before bool) error {
	if s.requests.Load()&wantThrow == 0 || goroutine.Unwinding() {
		return nil
	}
	p, refuses := s.pendingThrow(before)
	if p == nil {
		return nil
	}
	s.endFor(s.task, p.section, p.err)
	if refuses && ctx.Done() != nil && (p.section != 0 || ctx.Err() != nil) {
		return p.err
	}
	return nil
}

// pendingThrow returns the pending throw, if there is one, and whether it refuses calls.
func (s *strand) pendingThrow(before bool) (p *throwRequest, refuses bool) {
	s.loop.lock()
	defer s.loop.unlock()
	if s.pending == nil {
		return nil, false
	}
	if p = s.due(); p != nil {
		p.endedEarly = true
		refuses = !before || notify.Now()-p.at > int64(unwinds)
	}
	return p, refuses
}

package cocoon

import (
	"context"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
)

// Throws and contexts at a Block. Code that returns because a call has failed, for a throw ended
// its context, runs its deferred clean-up, and nothing tells that from other code: the goroutine
// does not unwind. What tells it is the context. Clean-up that is to be done whatever comes has one
// that does not end with the task's; plain Go demands that, too.

// heedFor is the safe point at the beginning of a Block with ctx, and of a Run. It takes no breath:
// the core will be free anyway.
func (s *strand) heedFor(ctx context.Context) {
	if s.asked() && (s.requests.Load()&wantThrow == 0 || s.endsWith(ctx)) {
		s.answer()
	}
}

// endsWith reports whether ctx ends when the context of the task or of a section does, or has
// ended.
func (s *strand) endsWith(ctx context.Context) bool {
	done := ctx.Done()
	return done != nil && (done == s.task.cancellation().Done() || s.sections.ends(done) || ctx.Err() != nil)
}

// warn ends the context of a throw that is due, unless the throw unwinds the task already. It
// returns the throw when it is for the call that is about to begin, for it was not due before; and
// when the task has not come back from calls for as long as it has for its clean-up.
func (s *strand) warn(ctx context.Context, before bool) error {
	if s.requests.Load()&wantThrow == 0 || goroutine.Unwinding() {
		return nil
	}
	p, refuses := s.overdue(before)
	if p == nil {
		return nil
	}
	s.endFor(s.task, p.section, p.err)
	if refuses && ctx.Done() != nil && (p.section != 0 || ctx.Err() != nil) {
		return p.err
	}
	return nil
}

// overdue returns the throw that is due, if there is one, and whether it is to refuse calls.
func (s *strand) overdue(before bool) (p *throwRequest, refuses bool) {
	s.loop.lock()
	defer s.loop.unlock()
	if s.pending == nil {
		return nil, false
	}
	if p = s.due(); p != nil {
		p.overdue = true
		refuses = !before || notify.Now()-p.at > int64(unwinds)
	}
	return p, refuses
}

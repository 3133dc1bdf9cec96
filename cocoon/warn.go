package cocoon

import (
	"context"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
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
	return s.relation(ctx) == follows || ctx.Err() != nil
}

// relation returns whether ctx ends with the context of the task or of a section. It calls methods
// of ctx. So it is called without a lock, by the task's goroutine.
func (s *strand) relation(ctx context.Context) relation {
	own := s.task.cancellation().Done()
	return relationOf(ctx, func(done <-chan struct{}) bool { return done == own || s.sections.ends(done) })
}

// endsFor reports whether it is certain that ctx ends with the context that a throw into the
// section ends; 0: into the task.
func (s *strand) endsFor(section uint64, ctx context.Context) bool {
	own := s.sections.done(section)
	if section == 0 {
		own = s.task.cancellation().Done()
	}
	return own != nil && relationOf(ctx, func(done <-chan struct{}) bool { return done == own }) == follows
}

// warn ends the context for a pending throw, unless the throw is already unwinding the task or ctx
// does not end with that context. It returns the throw in two cases: the throw was made for the
// call about to begin, because it was not pending before, or the task has ignored it for as long as
// a task may take to clean up. In the first case it leaves the context to grace.go: the call is not
// made, and clean-up that third-party code makes with ctx when it gets the error, such as the
// rollback of pgx.BeginFunc, succeeds.
func (s *strand) warn(ctx context.Context, before bool) error {
	if s.requests.Load()&wantThrow == 0 || goroutine.Unwinding() {
		return nil
	}
	p, refuses := s.pendingThrow(before)
	if p == nil || s.relation(ctx) == stays {
		return nil
	}
	if !before && !s.bubbled && s.endsFor(p.section, ctx) {
		return p.refuse()
	}
	s.endFor(s.task, p.section, p.err)
	if refuses && (p.section != 0 || ctx.Err() != nil) {
		return p.refuse()
	}
	return nil
}

// refuse returns the throw as the error of a call. Called by the task's goroutine.
func (p *throwRequest) refuse() error {
	p.returned = true
	return p.err
}

// pendingThrow returns the pending throw, if there is one, and whether it refuses calls.
func (s *strand) pendingThrow(before bool) (p *throwRequest, refuses bool) {
	s.loop.lock()
	defer s.loop.unlock()
	if s.pending == nil {
		return nil, false
	}
	if p = s.due(); p != nil {
		refuses = !before || notify.Now()-p.at > int64(unwinds)
	}
	return p, refuses
}

// mayCall returns the throw that is the error of a call that is about to begin, instead of the
// call.
func (s *strand) mayCall(ctx context.Context) error { return s.warn(ctx, s.beforeCall()) }

// beforeCall evaluates the policies on the event block, and reports whether a throw was due before
// it.
func (s *strand) beforeCall() (due bool) {
	due = s.requests.Load()&wantThrow != 0
	if s.loop.wants(stubs.Block) {
		s.loop.happened(s, stubs.Block)
	}
	return due
}

// refuses returns a throw as the error of a call, which is then not made. It does not end the
// context, because the task's other calls may depend on it. Where it is not certain that the throw
// would end ctx, it does what BlockCall does.
func (s *strand) refuses(ctx context.Context) error { return s.refusesNow(ctx, s.beforeCall()) }

// refusesNow is refuses after the policies on the event block. before reports whether the throw was
// made for something else than this call.
func (s *strand) refusesNow(ctx context.Context, before bool) error {
	if s.requests.Load()&wantThrow == 0 || goroutine.Unwinding() {
		return nil
	}
	if p, _ := s.pendingThrow(true); p != nil && s.endsFor(p.section, ctx) {
		return p.refuse()
	}
	return s.warn(ctx, before)
}

// willEnd reports whether a throw is pending that certainly ends ctx soon, see grace.go, and has
// not done so yet. In a bubble a throw ends contexts only after the task has unwound.
func (s *strand) willEnd(ctx context.Context) bool {
	if s.requests.Load()&wantThrow == 0 || s.bubbled || ctx.Err() != nil {
		return false
	}
	p, _ := s.pendingThrow(true)
	return p != nil && s.endsFor(p.section, ctx)
}

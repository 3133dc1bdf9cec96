package cocoon

import (
	"context"
	"errors"
)

// tellClient ends the context for a throw at a safe point that a client masks, if the client
// honours its context. There the context alone can end the client's work, so its end need not wait
// for the timer. Called by the task's goroutine.
func (s *strand) tellClient(p *throwRequest, w *walk) {
	if p == nil || w.by == "" || !honours(w.at.Function) {
		return
	}
	s.loop.lock()
	if s.pending == p {
		s.endEarly()
	}
	s.loop.unlock()
	p.client = p.section == 0 || s.sections.owns(p.section)
}

// endedClient reports whether the error is a client's for the end of its context, which the throw
// has ended. Clients have errors of their own for this, such as SQLite's "interrupted".
func (p *throwRequest) endedClient(err error) bool {
	return p.client && err != nil && !errors.Is(err, context.Canceled)
}

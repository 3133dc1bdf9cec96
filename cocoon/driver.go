package cocoon

import "strings"

// honours reports whether the function, which must not be unwound, belongs to a client that ends
// its work when its context ends: a query, or a call to another server.
func honours(function string) bool {
	return strings.HasPrefix(function, "database/sql.") || strings.HasPrefix(function, "google.golang.org/grpc.") ||
		strings.HasPrefix(function, "modernc.org/sqlite")
}

// tellDriver ends the context for a throw at a safe point that such a client masks. There the
// context alone can end the client's work, so its end need not wait for the timer. Called by the
// task's goroutine.
func (s *strand) tellDriver(p *throwRequest, w *walk) {
	if p == nil || w.by == "" || !honours(w.at.Function) {
		return
	}
	s.loop.lock()
	if s.pending == p {
		s.insist()
	}
	s.loop.unlock()
}

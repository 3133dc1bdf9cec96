package cocoon

// tellClient ends the context for a throw at a safe point that a client masks, if the client
// honours its context. There only the context can end the client's work, so its end need not wait
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
}

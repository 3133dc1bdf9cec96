package cocoon

import "errors"

// Code that recovers every panic swallows a throw, and often turns it into an error: an interpreter
// reports an internal error with its stack. The callers of the task or section must still be able
// to recognise the throw.

// over returns the error of a task or section whose code has swallowed the throw and returned err.
func (p *throwRequest) over(err error) error {
	if errors.Is(err, p.err) {
		return err // it contains the throw
	}
	p.err.returned.Store(&err)
	return p.err
}

// returns ends a throw that was made for the section, which returns by itself. If it was swallowed,
// or has ended a client's call, the section's error is the throw.
func (s *strand) returns(id uint64, err *error) {
	if p := s.throwing; p != nil && p.section == id && *err != nil {
		*err = p.over(*err)
		s.settle()
		return
	}
	s.loop.lock()
	p := s.pending
	s.loop.unlock()
	if p != nil && p.section == id && p.endedClient(*err) {
		*err = p.over(*err)
	}
	s.voidThrow(id)
}

package cocoon

import "errors"

// Code that recovers every panic swallows a throw. Often it makes an error of it: an interpreter
// reports an internal error, with the stack. To the callers of the task, or of the section, that is
// a throw, and they are to see it as one.

// over returns the error of a task or section whose code has swallowed the throw and returned err.
func (p *throwRequest) over(err error) error {
	if errors.Is(err, p.err) {
		return err // it tells of the throw by itself
	}
	p.err.returned.Store(&err)
	return p.err
}

// returns ends a throw that was made for the section, which returns by itself. If it was swallowed,
// the section's error is the throw.
func (s *strand) returns(id uint64, err *error) {
	if p := s.throwing; p != nil && p.section == id && *err != nil {
		*err = p.over(*err)
		s.settle()
		return
	}
	s.voidThrow(id)
}

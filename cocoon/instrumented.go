package cocoon

import (
	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/safepoint"
	"github.com/cocoon-go/cocoon/stubs"
)

func init() { safepoint.AttachSections(enterSection) }

// enterSection opens a section in a function that cocoon build has marked. Unlike Section it has no
// context, and finds the task by its goroutine. Outside of tasks it does nothing. The function
// defers the result directly, with a pointer to its error, or nil.
func enterSection(name string) (leave func(err *error)) {
	s := strandOfGoroutine()
	if s == nil {
		return func(*error) {}
	}
	id, depth := s.openSection(name)
	s.sections.insert(depth)
	return func(err *error) {
		s.sections.cut(depth)
		switch {
		case s.requests.Load()&wantThrow == 0:
		case s.throwing == nil:
			s.cutsShort(s.dueFor(id), id, err)
			s.voidThrow(id)
		case s.throwing.section == 0: // it ends the task
		case err == nil:
			s.passThrow(id)
		default:
			p := s.throwing.err
			if r := recover(); r != nil {
				*err = s.arrived(r)
				s.settle()
			} else {
				s.returns(id, err) // or Goexit
			}
			s.cutsShort(p, id, err)
		}
	}
}

// passThrow redirects a throw into the section, if the section's function cannot return it as an
// error, to the next boundary around it. Otherwise the throw, still in flight, would be void after
// its section has closed.
func (s *strand) passThrow(id uint64) {
	if s.throwing.section != id {
		return
	}
	if !goroutine.Unwinding() {
		s.voidThrow(id)
		return
	}
	s.loop.lock()
	defer s.loop.unlock()
	s.throwing.section = s.sections.innermost()
}

// innermost returns the id of the innermost open section, or 0. Called by the task's goroutine.
func (st *sectionStack) innermost() uint64 {
	n := min(int(st.depth.Load()), stubs.MaxStack)
	if n == 0 {
		return 0
	}
	return st.open.Load()[n-1].id.Load()
}

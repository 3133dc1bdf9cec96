package cocoon

import (
	"context"
	"errors"

	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/stubs"
)

// Responses cut short. A Section in the source belongs to code that knows of throws, and may decide
// how to go on after one. A section that cocoon build inserted belongs to code that gets the throw
// as an ordinary error. If such code has written part of a response, it may log the error and
// return, and the client would take the part for the whole.
//
//  1. inside.Wrote, called for each write, records the newest section of the task in rare.wroteIn.
//     The ids of sections grow, so at the end of section X the task has written inside X if and
//     only if wroteIn is at least X's id.
//  2. The end of an inserted section that returns a throw as its error records the throw in
//     rare.cutShort, if the task has written inside.
//  3. inside.CutShort returns it to the package that sends the response.

func init() { inside.Wrote, inside.CutShort, inside.Inserted = wrote, cutShort, inInserted }

func wrote(ctx context.Context) {
	if s := strandOf(ctx); s != nil && s.sections.depth.Load() > 0 {
		s.task.rarely().wroteIn = s.sections.last
	}
}

// cutsShort records the throw that section id returns as its error, if any.
func (s *strand) cutsShort(p *PreemptedError, id uint64, err *error) {
	if p == nil || err == nil {
		return
	}
	defer s.deafen()()
	var told *PreemptedError
	if !errors.As(*err, &told) || told != p {
		return
	}
	if r := s.task.rare.Load(); r != nil && r.wroteIn >= id {
		r.cutShort = p
	}
}

func cutShort(ctx context.Context) error {
	if t := TaskOf(ctx); t != nil {
		if r := t.rare.Load(); r != nil && r.cutShort != nil {
			return r.cutShort
		}
	}
	return nil
}

func inInserted(ctx context.Context) bool {
	s := strandOf(ctx)
	return s != nil && s.sections.hasInserted()
}

// insert records that cocoon build inserted the section at the depth. Called by the task's
// goroutine, as is hasInserted.
func (st *sectionStack) insert(depth int32) {
	if depth < stubs.MaxStack {
		st.open.Load()[depth].inserted = true
	}
	if !inside.Inserts.Load() {
		inside.Inserts.Store(true)
	}
}

func (st *sectionStack) hasInserted() bool {
	for i := range min(int(st.depth.Load()), stubs.MaxStack) {
		if st.open.Load()[i].inserted {
			return true
		}
	}
	return false
}

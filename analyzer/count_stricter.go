package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// stricter warns of a limit of the load that policies only lower: it gets stricter, if only down to
// a least value, and never milder.
func (c *tally) stricter(members []Member) []Remark {
	by := c.by[0]
	if !c.falls || by.m.Verified.program.Sites[by.effect.Index].By != nil {
		return nil
	}
	for _, m := range members {
		if m.own(by.state()) != by.m.own(by.state()) {
			continue
		}
		a := newAnalysis(m.Verified.program, 0)
		a.statement(a.p.Root)
		if n := a.limitOfLoad(source{stubs.State, by.state()}); n != nil {
			return []Remark{by.m.remark(by.effect, "let a policy raise it again",
				"the state %s only goes down, so the limit in %s gets stricter, and never milder", by.state(), m.text(n))}
		}
	}
	return nil
}

// limitOfLoad returns a comparison of a stub of the load with a state.
func (a *analysis) limitOfLoad(state source) (found *ir.Node) {
	a.p.Root.Any(func(n *ir.Node) bool {
		switch n.Op {
		case ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe:
		default:
			return false
		}
		s := a.slope(n, state)
		if s != rising && s != falling {
			return false
		}
		for _, r := range a.p.Reads {
			why, follows := reasonBy(r.Stub)
			if of := a.slope(n, source{stub: r.Stub}); why == load && follows == rising && of == s.reversed() {
				found = n
			}
		}
		return found != nil
	})
	return found
}

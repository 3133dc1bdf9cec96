package analyzer

import (
	"fmt"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// uptime is the clock of moments: a state compared with it holds a moment.
var uptime = source{stub: stubs.RuntimeUptime}

// moments returns warnings about states that policies compare with the clock, and that an effect
// sets to a time span, above 0 and without the clock in it. latched is about a state with no other
// effect.
func moments(members []Member) (all []Remark) {
	for _, m := range members {
		p := m.Verified.program
		a := newAnalysis(p, 0)
		a.statement(p.Root)
		p.Root.Any(func(n *ir.Node) bool {
			if n.Op != ir.OpEffect || p.Sites[n.Index].Type != stubs.Duration || p.Sites[n.Index].Effect != stubs.Set {
				return false
			}
			name := p.Sites[n.Index].Name
			if v := a.values[n.A]; v.of != stubs.Duration || v.ints.hi <= 0 || !a.isSpan(n.A) || !comparedWithClock(members, m, name) || !movedWithClock(members, m, name) {
				return false
			}
			all = append(all, m.remark(n, fmt.Sprintf("write runtime.uptime + %s", a.text(n.A)),
				"the state %s is compared with runtime.uptime, and %s gives it a time span, no moment", name, a.text(n)))
			return false
		})
	}
	return all
}

// isSpan reports whether a value is a constant above 0, or made only of the times of a task.
func (a *analysis) isSpan(n *ir.Node) bool {
	g := grounds{}
	a.readsIn(n, map[int]bool{}, &g)
	for _, r := range g.reads {
		if why := stubReasons[r.Stub]; why.reason != spent || why.slope != rising {
			return false
		}
	}
	return len(g.reads) > 0 || a.values[n].ints.lo > 0
}

// comparedWithClock reports whether a policy compares the state, or a difference to it, with the
// clock.
func comparedWithClock(members []Member, of Member, name string) bool {
	return inSome(members, of, name, func(a *analysis, n *ir.Node) bool {
		switch n.Op {
		case ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe:
		default:
			return false
		}
		clock, state := a.slope(n, uptime), a.slope(n, source{stubs.State, name})
		return clock != flat && clock != mixed && state == clock.reversed()
	})
}

// movedWithClock reports whether some effect gives the state a moment.
func movedWithClock(members []Member, of Member, name string) bool {
	return inSome(members, of, name, func(a *analysis, n *ir.Node) bool {
		return n.Op == ir.OpEffect && a.p.Sites[n.Index].Name == name && n.A != nil && a.slope(n.A, uptime) == rising
	})
}

// inSome reports whether has is true of an operation of a policy that has the same state.
func inSome(members []Member, of Member, name string, has func(*analysis, *ir.Node) bool) bool {
	for _, m := range members {
		if m.own(name) != of.own(name) {
			continue
		}
		a := newAnalysis(m.Verified.program, 0)
		a.statement(a.p.Root)
		if a.p.Root.Any(func(n *ir.Node) bool { return has(a, n) }) {
			return true
		}
	}
	return false
}

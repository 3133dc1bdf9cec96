package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// isMoment reports whether a duration is a point of time: the clock of the runtime, a state that
// holds is true of, or one of these and a time span. A difference of two states may be anything.
func (a *analysis) isMoment(n *ir.Node, holds func(state ir.Read) bool) bool {
	n = a.named(n)
	if n == nil || n.Type != stubs.Duration {
		return false
	}
	is := func(n *ir.Node) bool { return a.isMoment(n, holds) }
	switch n.Op {
	case ir.OpRead:
		r := a.reads[n.Index]
		return r.Stub == stubs.RuntimeUptime || r.Stub == stubs.State && holds(r)
	case ir.OpLet:
		return is(n.B)
	case ir.OpAdd:
		return is(n.A) != is(n.B)
	case ir.OpSub:
		g := grounds{}
		a.readsIn(n.B, map[int]bool{}, &g)
		return is(n.A) && !is(n.B) && !g.about(func(r ir.Read) bool { return r.OfState() && !holds(r) })
	case ir.OpMax: // with 0, or with the moment that the state has
		return is(n.A) || is(n.B)
	case ir.OpMin:
		return is(n.A) && is(n.B)
	case ir.OpIf:
		greatest := isLowered(n) && (n.A.Op == ir.OpGt || n.A.Op == ir.OpGe)
		return is(n.B) && is(n.C) || greatest && (is(n.B) || is(n.C))
	}
	return false
}

// checkRetry refuses a retry time that is a moment: the caller is told a time span.
func (a *analysis) checkRetry(n *ir.Node) {
	none := func(ir.Read) bool { return false }
	if n.A != nil && a.isMoment(n.A, none) {
		a.refuse(n.A, "a time span needs no clock; of a moment in a state, write state.NAME - runtime.uptime",
			"the retry time is a time span, and %s is a moment: the time since the runtime was made", a.text(n.A))
	}
}

// retries returns warnings about throws that tell the caller a moment, out of a state to which
// policies give only moments.
func retries(members []Member) (all []Remark) {
	holds := map[string]bool{} // by the own names of states
	for name, c := range countsOf(members) {
		for _, by := range c.by {
			a := newAnalysis(by.m.Verified.program, 0)
			holds[name] = holds[name] || by.effect.A != nil && a.isMoment(by.effect.A, func(ir.Read) bool { return false })
		}
	}
	for _, m := range members {
		a := newAnalysis(m.Verified.program, 0)
		a.p.Root.Any(func(n *ir.Node) bool {
			if throws(n) && n.A != nil && a.isMoment(n.A, func(r ir.Read) bool { return holds[m.own(r.Key)] }) {
				all = append(all, m.remark(n.A, "write "+m.text(n.A)+" - runtime.uptime",
					"the retry time is a time span, and %s is a moment: policies set it by runtime.uptime", m.text(n.A)))
			}
			return false
		})
	}
	return all
}

package analyzer

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// besideMoments returns a warning about a policy that ranks some tasks by a number that grows as
// time passes, and others by a small number or not at all: these start before all others. A rank of
// 0 or less says so.
func (m Member) besideMoments() []Remark {
	a := newAnalysis(m.Verified.program, 0)
	a.statement(a.p.Root)
	nodes := m.rankNodes()
	i := slices.IndexFunc(nodes, a.growing)
	if i < 0 {
		return nil
	}
	moment := m.text(nodes[i])
	for _, n := range nodes {
		v := a.values[n].ints
		if !a.growing(n) && n.Op != ir.OpRead && v.lo > 0 && v.hi < later {
			return []Remark{m.remark(n, "rank these tasks by the same clock; or write a rank below 0, if they start first",
				"%s is a small number next to %s, which grows as time passes: these tasks start before the others", m.text(n), moment)}
		}
	}
	left := false
	w := &pathwise{a: newAnalysis(a.p, 0), left: maxPaths}
	w.walk(a.p.Root, func(last *ir.Node) {
		placed := slices.ContainsFunc(w.fired, func(n *ir.Node) bool {
			effect := a.p.Sites[n.Index].Effect
			return effect == stubs.Rank || effect == stubs.Background
		})
		left = left || last.Op == ir.OpVerdict && !throws(last) && !placed
	})
	if !left || w.left <= 0 {
		return nil
	}
	return []Remark{m.remark(nodes[i], "rank all tasks by the same clock; or write a rank below 0 for those that start first, and 1 for those that start last",
		"tasks that the policy leaves without a rank, which is 0, start before all others: %s grows as time passes", moment)}
}

// growing reports whether a rank grows as time passes: it is a moment, or a place in virtual time.
func (a *analysis) growing(n *ir.Node) bool {
	return a.slope(n, uptime) == rising || a.slope(n, source{stub: stubs.ArrivingVirtualTime}) == rising
}

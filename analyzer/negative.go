package analyzer

import (
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// negative returns warnings about states that begin below 0, that no policy writes, and that decide
// a comparison with a stub by that: a limit with a sign in front.
func negative(members []Member, d Declared) (all []Remark) {
	written := countsOf(members)
	for _, m := range members {
		for _, r := range m.Verified.program.Reads {
			if r.Stub != stubs.State || r.By != nil || written[m.own(r.Key)] != nil {
				continue
			}
			s, ok := m.declaration(r.Key, d)
			if !ok || s.Type != stubs.Int && s.Type != stubs.Duration || int64(s.First) >= 0 {
				continue
			}
			if n, is := m.decidedBy(r, constant(s.Type, s.First)); n != nil {
				first := any(int64(s.First))
				if s.Type == stubs.Duration {
					first = time.Duration(s.First)
				}
				all = append(all, m.remark(n, "remove the sign", "the state %s is %v, and nothing writes it: %s is always %v", r.Key, first, m.text(n), is))
			}
		}
	}
	return all
}

// decidedBy returns a comparison that a value of a read decides, and its result.
func (m Member) decidedBy(r ir.Read, v value) (found *ir.Node, is bool) {
	free, bound := newAnalysis(m.Verified.program, 0), newAnalysis(m.Verified.program, 0)
	free.statement(free.p.Root)
	bound.facts.learn(bound.facts.read(r), v)
	bound.statement(bound.p.Root)
	of := source{stubs.State, r.Key}
	bound.p.Root.Any(func(n *ir.Node) bool {
		switch n.Op {
		case ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe:
			now, reached := bound.values[n]
			if s := bound.slope(n, of); reached && s != flat && now.truth.constant() && !free.values[n].truth.constant() {
				found, is = n, now.truth.yes
			}
		}
		return found != nil
	})
	return found, is
}

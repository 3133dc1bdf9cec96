package analyzer

import (
	"math"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// percentages returns warnings about states that begin with a percentage, such as 100, and that
// policies use as a share of 0 to 1: as a probability, or next to a share. A state that begins
// below 0 is not among them, because a share may grow from there.
func percentages(members []Member, d Declared) (all []Remark) {
	for _, m := range members {
		p := m.Verified.program
		for _, r := range p.Reads {
			s, ok := m.declaration(r.Key, d)
			if r.Stub != stubs.State || !ok || s.IsBucket() || s.Type != r.Type || !isPercentage(s) {
				continue
			}
			n, is := m.mistaken(r, constant(s.Type, s.First))
			if n == nil || slices.ContainsFunc(m.Verified.Warnings(), func(w Warning) bool { return w.Pos == n.Pos }) {
				continue
			}
			all = append(all, m.remark(n, "divide the state by 100.0, or begin with a share such as 0.5",
				"%s is always %v while the state %s has its first value, %v: a share is 0 to 1, and %s is more",
				m.text(n), is, r.Key, stubs.Value(s.First, s.Type), m.shareText(n, r)))
		}
	}
	return all
}

func isPercentage(s policy.State) bool {
	switch s.Type {
	case stubs.Int:
		return int64(s.First) > 1
	case stubs.Float:
		f := math.Float64frombits(s.First)
		return f > 1 && !math.IsInf(f, 0)
	}
	return false
}

// mistaken returns a comparison of a share with an expression of a read that is more than 1 for the
// value v, and so decides the comparison; and its result.
func (m Member) mistaken(r ir.Read, v value) (found *ir.Node, is bool) {
	free, bound := newAnalysis(m.Verified.program, 0), newAnalysis(m.Verified.program, 0)
	free.statement(free.p.Root)
	bound.facts.learn(bound.facts.read(r), v)
	bound.statement(bound.p.Root)
	of := source{stubs.State, r.Key}
	bound.p.Root.Any(func(n *ir.Node) bool {
		with := shareIn(bound.p, n)
		if with == nil || bound.slope(with, of) == flat || free.values[n].truth.constant() {
			return false
		}
		share := bound.values[with].floats.lo
		if now, reached := bound.values[n]; reached && now.truth.constant() && (share > 1 || share == 1 && capped1(bound, with, r)) {
			found, is = n, now.truth.yes
		}
		return found != nil
	})
	return found, is
}

// capped1 reports whether an expression is a read that min() or clamp() keeps at 1.
func capped1(a *analysis, n *ir.Node, of ir.Read) bool {
	if n = a.named(n); n == nil || n.Op != ir.OpMin && n.Op != ir.OpMax && !(n.Op == ir.OpIf && isLowered(n)) {
		return false
	}
	return !n.Any(func(n *ir.Node) bool {
		switch n.Op {
		case ir.OpRead:
			return a.reads[n.Index].Offset != of.Offset
		case ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpDiv, ir.OpTake:
			return true
		}
		return false
	})
}

// shareText quotes a share that mistaken has found: without the min() or clamp() around it.
func (m Member) shareText(n *ir.Node, r ir.Read) string {
	p := m.Verified.program
	a := newAnalysis(p, 0)
	if with := shareIn(p, n); !capped1(a, with, r) {
		return m.text(with)
	}
	return r.String()
}

// shareIn returns what a comparison compares with a share of 0 to 1: with the draw of chance(), or
// with loop.utilization. It returns nil for all other operations.
func shareIn(p *ir.Program, n *ir.Node) *ir.Node {
	switch n.Op {
	case ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe:
	default:
		return nil
	}
	is := func(n *ir.Node) bool {
		return n.Op == ir.OpRead && slices.ContainsFunc(p.Reads, func(r ir.Read) bool {
			return r.Offset == n.Index && (r.Stub == stubs.Draw || r.Stub == stubs.LoopUtilization)
		})
	}
	switch {
	case is(n.A):
		return n.B
	case is(n.B):
		return n.A
	}
	return nil
}

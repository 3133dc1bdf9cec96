package analyzer

import (
	"math"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// bent returns warnings about steps of a state with the bound on the wrong side: max(100, state.n +
// 1) of a state that begins with less, where a cap is meant, or min(1, state.n / 2) of one that
// begins with more, where a floor is.
func bent(members []Member, d Declared) (all []Remark) {
	for _, m := range members {
		p := m.Verified.program
		a := newAnalysis(p, 0)
		if !slices.ContainsFunc(p.Sites, func(s ir.Site) bool { return s.Effect == stubs.Set && s.Type.Numeric() }) {
			continue
		}
		a.statement(p.Root)
		p.Root.Any(func(n *ir.Node) bool {
			if n.Op == ir.OpEffect && p.Sites[n.Index].Effect == stubs.Set && p.Sites[n.Index].Type.Numeric() {
				all = append(all, m.bentAt(a, n, members, d)...)
			}
			return false
		})
	}
	return all
}

func (m Member) bentAt(a *analysis, n *ir.Node, members []Member, d Declared) []Remark {
	site := a.p.Sites[n.Index]
	s, declared := m.declaration(site.Name, d)
	x := a.named(n.A)
	for x != nil && x.Op == ir.OpLet {
		x = a.named(x.B)
	}
	bound, step, greatest, ok := a.extreme(x)
	if !declared || !ok {
		return nil
	}
	first := float64(int64(s.First))
	if s.Type == stubs.Float {
		first = math.Float64frombits(s.First)
	}
	grows, shrinks := a.stepOf(step, site)
	hint, does := "write min for a cap", "raises"
	switch {
	case grows && greatest && bound > 2*max(first, 1):
	case grows && greatest && bound == 1 && first == 1 && chanceOf(members, m, site.Name) != "":
	case shrinks && !greatest && bound < first:
		hint, does = "write max for a floor", "lowers"
	default:
		return nil
	}
	return []Remark{m.remark(n, hint, "%s %s the state %s to %v at once, and then without end", a.text(n), does, site.Name, number(site.Type, int64(bound)))}
}

// extreme returns the operands of max(c, x) or min(c, x) with a constant c.
func (a *analysis) extreme(x *ir.Node) (c float64, step *ir.Node, greatest, ok bool) {
	if x == nil || x.Op != ir.OpMin && x.Op != ir.OpMax && !(x.Op == ir.OpIf && isLowered(x)) {
		return 0, nil, false, false
	}
	one, other := x.A, x.B
	greatest = x.Op == ir.OpMax
	if x.Op == ir.OpIf {
		one, other = x.B, x.C
		// of a > b ? a : b the result is the greatest
		greatest = (x.A.Op == ir.OpGt || x.A.Op == ir.OpGe) == same(x.A.A, one)
	}
	one, other = a.named(one), a.named(other)
	if one == nil || other == nil {
		return 0, nil, false, false
	}
	if other.Op == ir.OpConst {
		one, other = other, one
	}
	if one.Op != ir.OpConst {
		return 0, nil, false, false
	}
	c = float64(int64(one.Imm))
	if one.Type == stubs.Float {
		c = math.Float64frombits(one.Imm)
	}
	return c, other, greatest, true
}

// same reports whether two operations are one local or one constant, or have one place.
func same(n, m *ir.Node) bool {
	return n.Op == m.Op && n.Imm == m.Imm && n.Index == m.Index && (n.Op == ir.OpLocal || spans(n, m))
}

// stepOf reports whether an expression is the state and more, or the state and less.
func (a *analysis) stepOf(n *ir.Node, site ir.Site) (grows, shrinks bool) {
	is := func(n *ir.Node) bool {
		n = a.named(n)
		if n == nil || n.Op != ir.OpRead {
			return false
		}
		r := a.reads[n.Index]
		return r.Stub == stubs.State && r.Key == site.Name && sameKey(r.By, site.By)
	}
	v := value{}
	if n.B != nil {
		v = a.values[n.B]
	}
	least, most := float64(v.ints.lo), float64(v.ints.hi)
	if v.of == stubs.Float {
		least, most = v.floats.lo, v.floats.hi
	}
	switch {
	case v.of == stubs.Invalid || !is(n.A):
	case n.Op == ir.OpAdd:
		return least > 0, most < 0
	case n.Op == ir.OpSub:
		return most < 0, least > 0
	case n.Op == ir.OpMul:
		return least > 1, least >= 0 && most < 1
	case n.Op == ir.OpDiv:
		return false, least > 1
	}
	return false, false
}

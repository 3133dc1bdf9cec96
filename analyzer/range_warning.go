package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// outside returns warnings about policies that compare a state with a value which no policy gives
// it. Such a policy never throws, never has an effect, or never continues. Each policy gets at most
// one warning.
func outside(members []Member, d Declared) (all []Remark) {
	r := rangesOf(members, d)
	for _, m := range members {
		knows, before := r.analysis(m), (&ranges{}).analysis(m)
		knows.statement(knows.p.Root)
		before.statement(before.p.Root)
		if !knows.loses(before) {
			continue
		}
		n := m.decided(r, knows, before)
		if n == nil {
			continue
		}
		always, read := knows.values[n].truth.yes, m.stateIn(r, n)
		what := read.String() + " is " + knows.describe(knows.values[m.nodeOf(n, read)])
		if read.Stub == stubs.StateRate {
			what = "no policy lowers the state " + read.Key
		}
		all = append(all, m.remark(n, "compare with a value that policies give the state, or let a policy give it this one", "%s is always %v: %s, by all that policies write", m.text(n), always, what))
	}
	return all
}

// loses reports whether an act that is reached without the ranges of states is not reached with
// them; or the policy can no longer continue.
func (a *analysis) loses(before *analysis) bool {
	continues := map[*analysis]bool{}
	lost := false
	for _, of := range []*analysis{a, before} {
		for n, reached := range of.reached {
			if n.Op == ir.OpVerdict && stubs.Decision(n.Imm) == stubs.Continue {
				continues[of] = continues[of] || reached
			} else {
				lost = lost || reached && !a.reached[n]
			}
		}
	}
	return lost || continues[before] && !continues[a]
}

// decided returns the first comparison of a state that is constant because of the ranges, except
// for a guard: a comparison with 0 of a state that the policy divides by, or takes the root of.
func (m Member) decided(r *ranges, knows, before *analysis) (found *ir.Node) {
	p := m.Verified.program
	ofMax := lowered(p.Root)
	p.Root.Any(func(n *ir.Node) bool {
		compares := !ofMax[n] && (n.Op == ir.OpEq || n.Op == ir.OpNe || n.Op == ir.OpLt || n.Op == ir.OpLe || n.Op == ir.OpGt || n.Op == ir.OpGe)
		v, reached := knows.values[n]
		if compares && reached && v.truth.constant() && !before.values[n].truth.constant() && m.stateIn(r, n).Key != "" && !m.guards(r, n) {
			found = n
		}
		return found != nil
	})
	return found
}

// stateIn returns a read of a state with a range in an expression, or the zero Read.
func (m Member) stateIn(r *ranges, n *ir.Node) ir.Read {
	return m.stateBehind(r, n, map[int]bool{})
}

// stateBehind is stateIn without the locals that have been looked at.
func (m Member) stateBehind(r *ranges, n *ir.Node, locals map[int]bool) (found ir.Read) {
	p := m.Verified.program
	n.Any(func(n *ir.Node) bool {
		for _, read := range p.Reads {
			if _, tracked := r.of[m.own(read.Key)]; n.Op == ir.OpRead && n.Index == read.Offset && read.OfState() && tracked {
				found = read
			}
		}
		if n.Op == ir.OpLocal && !locals[n.Index] {
			locals[n.Index] = true
			found = m.stateBehind(r, m.let(n.Index), locals)
		}
		return found.Key != ""
	})
	return found
}

// let returns the value of a local that a let binds, or nil.
func (m Member) let(local int) (value *ir.Node) {
	m.Verified.program.Root.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpLet && n.Index == local {
			value = n.A
		}
		return value != nil
	})
	return value
}

// nodeOf returns the operation that reads r in an expression, or in the policy.
func (m Member) nodeOf(n *ir.Node, r ir.Read) (at *ir.Node) {
	is := func(n *ir.Node) bool {
		if n.Op == ir.OpRead && n.Index == r.Offset {
			at = n
		}
		return at != nil
	}
	if !n.Any(is) {
		m.Verified.program.Root.Any(is)
	}
	return at
}

// guards reports whether a comparison with 0 may be there for an operation that is refused without
// it.
func (m Member) guards(r *ranges, n *ir.Node) bool {
	zero := func(n *ir.Node) bool { return n.Op == ir.OpConst && constant(n.Type, n.Imm).hasZero() }
	if !zero(n.A) && !zero(n.B) {
		return false
	}
	return m.Verified.program.Root.Any(func(n *ir.Node) bool {
		switch n.Op {
		case ir.OpDiv, ir.OpMod:
			return m.stateIn(r, n.B).Key != ""
		case ir.OpSqrt, ir.OpTake:
			return m.stateIn(r, n.A).Key != ""
		}
		return false
	})
}

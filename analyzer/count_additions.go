package analyzer

import (
	"math"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// additions follows the statements of a policy that counts tasks, and finds the amounts that it may
// add to the state in one evaluation.
type additions struct {
	a       *analysis // of the policy, for certain tasks
	sum     *sum
	by      func(*ir.Node) bool // whether an effect counts
	vague   bool                // the amounts depend on what only the policy's author knows
	bounded bool                // an effect depends on the state itself, which bounds it
}

// maxFlows bounds the amounts of one evaluation.
const maxFlows = 16

// statement returns the amounts that the paths of n add. Paths that refuse the task are left out.
func (f *additions) statement(n *ir.Node) []amount {
	switch n.Op {
	case ir.OpVerdict:
		if f.a.p.On&stubs.Enqueue == 0 || stubs.Decision(n.Imm) != stubs.Throw {
			return []amount{{}}
		}
	case ir.OpEffect:
		if !f.by(n) {
			return []amount{{}}
		}
		a, ok := f.sum.effect(n)
		f.vague = f.vague || !ok
		return []amount{a}
	case ir.OpSeq:
		return f.both(f.statement(n.A), f.statement(n.B))
	case ir.OpLet:
		return f.statement(n.B)
	case ir.OpIf:
		return f.choice(n)
	}
	return nil
}

// both returns the sums of amounts of two sets.
func (f *additions) both(one, other []amount) (all []amount) {
	for _, a := range one {
		for _, b := range other {
			all = f.join(all, []amount{a.plus(b, 1)})
		}
	}
	return all
}

// join returns the amounts of either set.
func (f *additions) join(all, more []amount) []amount {
	for _, a := range more {
		if !slices.ContainsFunc(all, func(b amount) bool { return len(a.plus(b, -1)) == 0 }) {
			all = append(all, a)
		}
	}
	f.vague = f.vague || len(all) > maxFlows
	return all[:min(len(all), maxFlows)]
}

func (f *additions) choice(n *ir.Node) []amount {
	v, reached := f.a.values[n.A]
	switch {
	case !reached:
		return nil
	case !v.truth.no:
		return f.statement(n.B)
	case !v.truth.yes:
		return f.statement(n.C)
	}
	one, other := f.statement(n.B), f.statement(n.C)
	all := f.join(slices.Clone(one), other)
	if len(all) == len(one) && len(all) == len(other) || len(one) == 0 || len(other) == 0 {
		return all
	}
	switch itself, unknown := f.about(n.A, map[int]bool{}); {
	case unknown:
		f.vague = true
	case itself:
		f.bounded = true
		return slices.DeleteFunc(all, func(a amount) bool { return len(a) == 0 })
	}
	return all
}

// about reports whether a condition reads the counted state, and whether it reads something by
// which a policy may know later what it has decided now: what a task keeps, another state, or the
// time. locals are the locals that about has seen.
func (f *additions) about(cond *ir.Node, locals map[int]bool) (itself, unknown bool) {
	cond.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpLocal && !locals[n.Index] {
			locals[n.Index] = true
			i, u := f.about(f.sum.lets[n.Index], locals)
			itself, unknown = itself || i, unknown || u
		}
		if n.Op != ir.OpRead {
			return false
		}
		switch r := f.a.reads[n.Index]; {
		case r.Stub == stubs.State && r.Key == f.sum.state:
			itself = true
		case r.OfState(), r.Stub == stubs.RuntimeUptime, r.Stub == stubs.LoopSlots, r.Stub == stubs.EventName, r.Stub == stubs.EventValue:
			unknown = true
		default:
			_, keeps := propertyOf(f.a.p.On, r)
			unknown = unknown || keeps
		}
		return false
	})
	return itself, unknown
}

// extremes returns the least and the greatest of plain numbers.
func extremes(all []amount) (least, most float64, plain bool) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, a := range all {
		n, plain := a.number()
		if !plain {
			return 0, 0, false
		}
		least, most = min(least, n), max(most, n)
	}
	return least, most, len(all) > 0
}

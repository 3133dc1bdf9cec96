package analyzer

import (
	"math"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// crossed returns a warning about a latch with crossed thresholds: a policy that sets a state true
// above 20 and false below 50 changes it at each evaluation between the two.
func (a *analysis) crossed() (all []Warning) {
	gauges := a.gauges()
	for _, latch := range a.p.Reads {
		if latch.Stub != stubs.State || latch.Type != stubs.Bool {
			continue
		}
		at := a.setsOf(latch)
		for _, f := range gauges {
			above := between(f.Type, f.limits[len(f.limits)-1], math.Inf(1))
			for i := 1; i < len(f.limits) && at != nil && len(all) == 0; i++ {
				low, high := f.limits[i-1], f.limits[i]
				if a.flips(latch, f, low, high) && !(a.leaves(latch, f, above, false) && a.leaves(latch, f, above, true)) {
					all = []Warning{{a.p.Errorf(at, "swap the two thresholds: set it true above the higher one, and false below the lower one",
						"%v changes at each evaluation while %s is between %s and %s", latch, a.text(f.Node), f.show(low), f.show(high))}}
				}
			}
		}
	}
	return all
}

// setsOf returns the first effect that sets a state, under the key of its read.
func (a *analysis) setsOf(latch ir.Read) (at *ir.Node) {
	a.p.Root.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpEffect && a.sets(n, latch) && at == nil {
			at = n
		}
		return at != nil
	})
	return at
}

func (a *analysis) sets(n *ir.Node, latch ir.Read) bool {
	s := a.p.Sites[n.Index]
	return s.Effect == stubs.Set && s.Name == latch.Key && sameKey(s.By, latch.By)
}

// gauge is a number that a policy compares with constants, in their order.
type gauge struct {
	*ir.Node
	limits []float64
}

func (f gauge) show(limit float64) string {
	if f.Type == stubs.Float {
		return shortly(limit)
	}
	return number(f.Type, int64(limit))
}

// maxLimits bounds the constants of a gauge.
const maxLimits = 8

// gauges returns the numbers that the policy compares with constants. Those computed from locals
// are left out.
func (a *analysis) gauges() (all []gauge) {
	terms, at := newAnalysis(a.p, 0), map[term]int{}
	a.p.Root.Any(func(n *ir.Node) bool {
		switch n.Op {
		case ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe:
		default:
			return false
		}
		x, limit := a.named(n.A), a.named(n.B)
		if x == nil || limit == nil {
			return false
		}
		if x.Op == ir.OpConst {
			x, limit = limit, x
		}
		if limit.Op != ir.OpConst || x.Any(func(n *ir.Node) bool { return n.Op == ir.OpLocal || n.Op == ir.OpLet || n.Op == ir.OpTake }) {
			return false
		}
		c := float64(int64(limit.Imm))
		if limit.Type == stubs.Float {
			c = math.Float64frombits(limit.Imm)
		}
		t, _ := terms.eval(x)
		i, known := at[t]
		if !known {
			i, at[t] = len(all), len(all)
			all = append(all, gauge{Node: x})
		}
		all[i].limits = append(all[i].limits, c)
		return false
	})
	for i := range all {
		slices.Sort(all[i].limits)
		all[i].limits = slices.Compact(all[i].limits)
		all[i].limits = all[i].limits[:min(len(all[i].limits), maxLimits)]
	}
	return all
}

// between returns the values of a type strictly between two limits.
func between(of stubs.Type, low, high float64) value {
	if of == stubs.Float {
		return floatValue(floats{lo: math.Nextafter(low, math.Inf(1)), hi: math.Nextafter(high, math.Inf(-1))})
	}
	if math.IsInf(high, 1) {
		high = float64(later)
	}
	return intValue(of, interval{lo: int64(low) + 1, hi: int64(high) - 1})
}

// flips reports whether the policy, while a gauge is between two limits, sets the latch to true
// whenever it is false, and to false whenever it is true.
func (a *analysis) flips(latch ir.Read, f gauge, low, high float64) bool {
	v := between(f.Type, low, high)
	return !v.empty() && a.leaves(latch, f, v, false) && a.leaves(latch, f, v, true)
}

func paths(a *analysis) *pathwise { return &pathwise{a: newAnalysis(a.p, 0), left: maxPaths} }

// leaves reports whether each path of the policy, while a gauge has some values, changes the latch
// from a value.
func (a *analysis) leaves(latch ir.Read, f gauge, v value, is bool) bool {
	w := paths(a)
	w.a.facts.learn(w.a.facts.read(latch), known(is))
	return w.becomes(latch, f, v, !is)
}

// becomes reports whether each path of the policy, while a gauge has some values, sets the latch
// to a value.
func (w *pathwise) becomes(latch ir.Read, f gauge, v value, is bool) bool {
	t, _ := w.a.eval(f.Node)
	w.a.facts.learn(t, v)
	always, some := true, false
	w.walk(w.a.p.Root, func(*ir.Node) {
		sets := truth{}
		for _, n := range w.fired {
			if w.a.sets(n, latch) {
				sets = w.a.values[n.A].truth
			}
		}
		always, some = always && sets.constant() && sets.yes == is, true
	})
	return always && some && w.left > 0
}

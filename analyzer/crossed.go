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
	for _, latch := range a.p.Reads {
		if latch.Stub != stubs.State || latch.Type != stubs.Bool {
			continue
		}
		at := a.setsOf(latch)
		for _, figure := range a.p.Reads {
			if at == nil || figure.Offset == latch.Offset || len(all) > 0 {
				continue
			}
			limits := a.limitsOf(figure)
			for i := range max(0, len(limits)-1) {
				v := between(figure.Type, limits[i], limits[i+1])
				if !v.empty() && a.flips(latch, figure, v) && !a.flips(latch, figure, between(figure.Type, limits[len(limits)-1], math.Inf(1))) {
					all = []Warning{{a.p.Errorf(at, "swap the two thresholds: set it true above the higher one, and false below the lower one",
						"%v changes at each evaluation while %v is between %s and %s", latch, figure, a.number(figure, limits[i]), a.number(figure, limits[i+1]))}}
					break
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

// maxLimits bounds the constants that crossed looks at.
const maxLimits = 8

// limitsOf returns the constants with which the policy compares a figure, in their order.
func (a *analysis) limitsOf(figure ir.Read) (limits []float64) {
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
		if x.Op == ir.OpRead && x.Index == figure.Offset && limit.Op == ir.OpConst {
			c := float64(int64(limit.Imm))
			if limit.Type == stubs.Float {
				c = math.Float64frombits(limit.Imm)
			}
			limits = append(limits, c)
		}
		return false
	})
	slices.Sort(limits)
	limits = slices.Compact(limits)
	return limits[:min(len(limits), maxLimits)]
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

// latchesIn returns the bool states that a policy sets, as reads of them.
func latchesIn(p *ir.Program) (all []ir.Read) {
	for _, s := range p.Sites {
		if s.Effect == stubs.Set && s.Type == stubs.Bool {
			all = append(all, ir.Read{Stub: stubs.State, Key: s.Name, Type: s.Type, By: s.By, Offset: -1})
		}
	}
	return all
}

// writes reports whether a policy writes a state.
func (m Member) writes(state string) bool {
	return slices.ContainsFunc(m.Verified.program.Sites, func(s ir.Site) bool { return s.Effect.Writes() && s.Name == state })
}

// flips reports whether the policy, while a figure has some values, sets the latch to true whenever
// it is false, and to false whenever it is true.
func (a *analysis) flips(latch, figure ir.Read, v value) bool {
	return a.leaves(latch, figure, v, false) && a.leaves(latch, figure, v, true)
}

func paths(a *analysis) *pathwise { return &pathwise{analysis: newAnalysis(a.p, 0), left: maxPaths} }

// leaves reports whether each path of the policy changes the latch from its value.
func (a *analysis) leaves(latch, figure ir.Read, v value, is bool) bool {
	w := paths(a)
	w.facts.learn(w.facts.read(latch), known(is))
	return w.becomes(latch, figure, v, !is)
}

// becomes reports whether each path of the policy, while a figure has some values, sets the latch
// to a value.
func (w *pathwise) becomes(latch, figure ir.Read, v value, is bool) bool {
	w.facts.learn(w.facts.read(figure), v)
	always, some := true, false
	w.walk(w.p.Root, func(*ir.Node) {
		sets := truth{}
		for _, n := range w.fired {
			if w.sets(n, latch) {
				sets = w.values[n.A].truth
			}
		}
		always, some = always && sets.constant() && sets.yes == is, true
	})
	return always && some && w.left > 0
}

func (a *analysis) number(of ir.Read, limit float64) string {
	if of.Type == stubs.Float {
		return shortly(limit)
	}
	return number(of.Type, int64(limit))
}

// crossedBetween returns warnings about two policies of one kind of notification with crossed
// thresholds: one sets a state true above 20, and another one false below 50, whatever the state.
func crossedBetween(members []Member) (all []Remark) {
	for i, m := range members {
		for k, o := range members {
			if i == k || m.Spec.On != o.Spec.On || !m.covers(o) || !o.covers(m) || m.Spec.Mode != o.Spec.Mode {
				continue
			}
			if found := m.crosses(o); found != nil {
				all = append(all, *found)
			}
		}
	}
	return all
}

// crosses returns a warning if m sets a state true for values of a figure for which o sets it
// false.
func (m Member) crosses(o Member) *Remark {
	latches := latchesIn(m.Verified.program)
	latches = slices.DeleteFunc(latches, func(r ir.Read) bool { return m.own(r.Key) != o.own(r.Key) || !o.writes(r.Key) })
	if len(latches) == 0 {
		return nil
	}
	a, b := newAnalysis(m.Verified.program, 0), newAnalysis(o.Verified.program, 0)
	for _, latch := range latches {
		for _, figure := range a.p.Reads {
			j := slices.IndexFunc(b.p.Reads, func(r ir.Read) bool { return r.String() == figure.String() })
			if figure.OfState() || j < 0 || !figure.Type.Numeric() {
				continue
			}
			for _, low := range a.limitsOf(figure) {
				for _, high := range b.limitsOf(b.p.Reads[j]) {
					if v := between(figure.Type, low, high); low < high && !v.empty() && paths(a).becomes(latch, figure, v, true) && paths(b).becomes(latch, b.p.Reads[j], v, false) {
						r := o.remark(b.setsOf(latch), "swap the two thresholds: set it true above the higher one, and false below the lower one",
							"%s changes what the policy %q has set while %s is between %s and %s", o.text(b.setsOf(latch)), m.Spec.Name, figure, a.number(figure, low), a.number(figure, high))
						return &r
					}
				}
			}
		}
	}
	return nil
}

package analyzer

import (
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// crossedBetween returns warnings about two policies of one kind of notification with crossed
// thresholds: one sets a state true above 20, and another one false below 50, whatever the state.
func crossedBetween(members []Member) (all []Remark) {
	setters := map[string][]Member{} // by the own names of bool states without keys
	for _, m := range members {
		for _, s := range m.Verified.program.Sites {
			if name := m.own(s.Name); s.Effect == stubs.Set && s.Type == stubs.Bool && s.By == nil && !slices.ContainsFunc(setters[name], func(o Member) bool { return o.Spec.Name == m.Spec.Name }) {
				setters[name] = append(setters[name], m)
			}
		}
	}
	pairs := 0
	for _, name := range slices.Sorted(maps.Keys(setters)) {
		for _, m := range setters[name] {
			for _, o := range setters[name] {
				if pairs++; pairs > maxPairs {
					return all
				}
				if m.Spec.Name != o.Spec.Name && m.Spec.On == o.Spec.On && m.Spec.Mode == o.Spec.Mode && m.covers(o) && o.covers(m) {
					all = append(all, m.crosses(o, ir.Read{Stub: stubs.State, Key: name, Type: stubs.Bool, Offset: -1})...)
				}
			}
		}
	}
	return all
}

// crosses returns a warning if m sets a state true for values of a gauge for which o sets it
// false.
func (m Member) crosses(o Member, latch ir.Read) []Remark {
	a, b := newAnalysis(m.Verified.program, 0), newAnalysis(o.Verified.program, 0)
	theirs := b.gauges()
	for _, f := range a.gauges() {
		i := slices.IndexFunc(theirs, func(o gauge) bool { return o.Type == f.Type && o.Op == f.Op && b.text(o.Node) == a.text(f.Node) })
		if i < 0 {
			continue
		}
		for _, low := range f.limits {
			for _, high := range theirs[i].limits {
				v := between(f.Type, low, high)
				if low < high && !v.empty() && paths(a).becomes(latch, f, v, true) && paths(b).becomes(latch, theirs[i], v, false) {
					at := b.setsOf(latch)
					return []Remark{o.remark(at, "swap the two thresholds: set it true above the higher one, and false below the lower one",
						"%s changes what the policy %q has set while %s is between %s and %s", o.text(at), m.Spec.Name, a.text(f.Node), f.show(low), f.show(high))}
				}
			}
		}
	}
	return nil
}

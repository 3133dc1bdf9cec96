package analyzer

import (
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// undone returns warnings about policies on a custom event that set a state to a constant, where a
// later policy on the same event sets it to another one in any case: one of the two most likely
// belongs to another event, as drain and undrain.
func undone(members []Member) (all []Remark) {
	for i, m := range members {
		if m.Spec.On.Set() != stubs.Custom || m.Spec.On.Custom == "" {
			continue
		}
		for _, later := range members[i+1:] {
			if later.Spec.On.Set() != stubs.Custom || later.Spec.On.Custom != m.Spec.On.Custom || later.Spec.Mode != m.Spec.Mode ||
				!slices.Equal(later.Spec.Match.Loops, m.Spec.Match.Loops) {
				continue
			}
			one, other := m.setsAlways(), later.setsAlways()
			for _, n := range slices.SortedFunc(maps.Values(one), func(a, b *ir.Node) int { return a.Pos - b.Pos }) {
				t, _ := targetOf(m.Verified.program.Sites[n.Index])
				if at := other[t]; at != nil && at.A.Imm != n.A.Imm && m.own(t.name) == later.own(t.name) {
					all = append(all, m.remark(n, "set it on another event, or remove one of the two",
						"%s does nothing: the policy %q is evaluated later on the same event, and sets the state to another value", m.text(n), later.Spec.Name))
				}
			}
		}
	}
	return all
}

// setsAlways returns the effects that set a state without keys to a constant on each path.
func (m Member) setsAlways() map[target]*ir.Node {
	p := m.Verified.program
	sets := (&analysis{p: p}).lost(p.Root)
	for t, n := range sets {
		if site := p.Sites[n.Index]; site.Effect != stubs.Set || site.By != nil || n.A.Op != ir.OpConst {
			delete(sets, t)
		}
	}
	return sets
}

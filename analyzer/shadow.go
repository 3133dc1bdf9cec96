package analyzer

import (
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// shadows returns warnings about registered states that policies in mode enforce read, or count in,
// and that policies in other modes write: these write a shadow, or nothing.
func shadows(members []Member) (all []Remark) {
	idle := map[string][]Member{} // the writers that do not enforce, by state
	written := map[string]bool{}  // by a policy that enforces
	for _, m := range members {
		for _, s := range m.Verified.program.Sites {
			switch {
			case !s.Effect.Writes() || m.own(s.Name) != s.Name:
			case m.Spec.Mode == policy.Enforce:
				written[s.Name] = true
			case !slices.ContainsFunc(idle[s.Name], func(o Member) bool { return o.Spec.Name == m.Spec.Name }):
				idle[s.Name] = append(idle[s.Name], m)
			}
		}
	}
	for _, state := range slices.Sorted(maps.Keys(idle)) {
		if written[state] {
			all = append(all, halves(members, state)...)
			continue
		}
		for _, m := range members {
			if n := m.readOf(state); n != nil && m.Spec.Mode == policy.Enforce {
				w := idle[state][0]
				all = append(all, m.remark(n, "give both policies one mode", "only the policy %q writes the state %s, and %s: this policy, in mode enforce, reads the first value",
					w.Spec.Name, state, idleness[w.Spec.Mode]))
				break
			}
		}
	}
	return all
}

var idleness = map[policy.Mode]string{policy.Observe: "in mode observe it writes a shadow", policy.Off: "in mode off it writes nothing"}

// halves warns of a count that policies in mode enforce move in only one direction, because the
// policy for the other direction does not enforce.
func halves(members []Member, state string) []Remark {
	c := countsOf(members)[state]
	if c.up == 0 || c.down == 0 {
		return nil
	}
	enforced := map[int]bool{}
	for _, by := range c.by {
		if by.m.Verified.program.On&^life != 0 || by.sign == 0 && !by.floors() {
			return nil
		}
		if by.m.Spec.Mode == policy.Enforce {
			enforced[by.sign] = true
		}
	}
	for _, by := range c.by {
		if by.sign != 0 && !enforced[by.sign] {
			way := map[int]string{1: "up", -1: "down"}
			return []Remark{by.m.remark(by.effect, "give both policies one mode",
				"the state %s goes %s in a policy in mode enforce, and %s in this one alone: %s", state, way[-by.sign], way[by.sign], idleness[by.m.Spec.Mode])}
		}
	}
	return nil
}

// floors reports whether the effect only keeps a count from falling below 0, as max("n", 0) does.
func (c counting) floors() bool {
	site := c.m.Verified.program.Sites[c.effect.Index]
	return site.Effect == stubs.Max && c.effect.A.Op == ir.OpConst && c.effect.A.Imm == 0
}

// readOf returns a place where the policy reads the registered state, or nil.
func (m Member) readOf(state string) (found *ir.Node) {
	p := m.Verified.program
	if m.own(state) != state {
		return nil
	}
	for _, r := range p.Reads {
		if r.OfState() && r.Key == state {
			return &ir.Node{Pos: r.Pos, End: min(r.Pos+len(r.String()), len(p.Text)), Type: stubs.Unit}
		}
	}
	return nil
}

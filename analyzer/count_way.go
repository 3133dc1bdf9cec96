package analyzer

import (
	"slices"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// oneWay warns of a count that only goes up, or only down, and is compared with a number that it
// passes for good.
func (c *tally) oneWay(members []Member, d Declared) []Remark {
	by, way := c.by[0], "up"
	if c.falls {
		way = "down"
	}
	name := by.state()
	written := countsOf(members)
	for _, m := range members {
		if m.own(name) != by.own(name) || by.expires(d) {
			continue
		}
		if n := m.compared(name, func(state string) bool { return written[m.own(state)] == nil }); n != nil {
			return []Remark{m.remark(n, "let a policy bring it back, or compare rate()",
				"the state %s only goes %s, so %s is decided for good some day", name, way, m.text(n))}
		}
	}
	return nil
}

// latched warns of a state without keys that all effects set to one constant, and that another
// policy reads: nothing sets it back.
func (c *tally) latched(members []Member) []Remark {
	by, value := c.by[0], c.by[0].effect.A
	for _, other := range c.by {
		site := other.Verified.program.Sites[other.effect.Index]
		if site.Effect != stubs.Set || site.By != nil || value.Op != policy.OpConst || other.effect.A.Op != policy.OpConst || other.effect.A.Imm != value.Imm {
			return nil
		}
	}
	reader := slices.ContainsFunc(members, func(m Member) bool { return m.Spec.Name != by.Spec.Name && m.readOf(by.state()) != nil })
	if !reader || by.own(by.state()) != by.state() {
		return nil
	}
	return []Remark{by.remark(by.effect, "let a policy set it back", "%s is all that policies do with the state %s: nothing sets it back", by.text(by.effect), by.state())}
}

// expires reports whether the keys of the counted state end by themselves.
func (c counting) expires(d Declared) bool {
	s := d.States[c.state()]
	if declared, private := c.Spec.State[c.state()]; private {
		s, _ = policy.StateOf(declared)
	}
	return s.TTL > 0
}

func (m Member) text(n *policy.Node) string { return (&analysis{p: m.Verified.program}).text(n) }

// compared returns a comparison of a state with a number that does not follow other states, time or
// load: a constant, the slots of the loop, or a state that is fixed.
func (m Member) compared(state string, fixed func(state string) bool) (found *policy.Node) {
	p := m.Verified.program
	reads := map[int]policy.Read{}
	for _, r := range p.Reads {
		reads[r.Offset] = r
	}
	locals := map[int]*policy.Node{}
	is := func(n *policy.Node) bool {
		for n.Op == policy.OpFloat || n.Op == policy.OpRetype || n.Op == policy.OpLocal && locals[n.Index] != nil {
			if n.Op == policy.OpLocal {
				n = locals[n.Index]
			} else {
				n = n.A
			}
		}
		r := reads[n.Index]
		return n.Op == policy.OpRead && r.Stub == stubs.State && r.Key == state
	}
	moves := func(n *policy.Node) bool {
		return n.Op == policy.OpLocal || n.Op == policy.OpRead && reads[n.Index].Stub != stubs.LoopSlots &&
			!(reads[n.Index].Stub == stubs.State && fixed(reads[n.Index].Key))
	}
	p.Root.Any(func(n *policy.Node) bool {
		switch n.Op {
		case policy.OpLet:
			locals[n.Index] = n.A
		case policy.OpLt, policy.OpLe, policy.OpGt, policy.OpGe:
			if is(n.A) && !n.B.Any(moves) || is(n.B) && !n.A.Any(moves) {
				found = n
			}
		}
		return found != nil
	})
	return found
}

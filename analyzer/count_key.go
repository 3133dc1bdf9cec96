package analyzer

import (
	"math"
	"slices"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// apart warns of a count under keys: a task is counted under one key, and taken off under another.
func (c *tally) apart(d Declared) []Remark {
	for _, by := range c.by {
		p := by.m.Verified.program
		site := p.Sites[by.effect.Index]
		if site.By == nil || by.sign == c.first() {
			continue
		}
		mine, meets, same := by.m.keyKind(site.By), false, false
		var other keyKind
		for _, o := range c.by {
			if o.sign == c.first() {
				theirs := o.m.keyKind(o.m.Verified.program.Sites[o.effect.Index].By)
				other, meets, same = theirs, meets || mine.meets(theirs, d.Tenant), same || !mine.names(theirs, d.Tenant)
			}
		}
		why := ""
		switch {
		case !meets:
			why = "the keys never meet"
		case !same:
			why = `tenant.name is "other" for tenants without an account, and the label is not`
		default:
			continue
		}
		one, two := other, mine
		if c.first() < 0 {
			one, two = mine, other
		}
		return []Remark{by.m.remark(by.effect, "use the same key, of the arriving task and of the task",
			"the state %s goes up by the key %s and down by %s: %s", by.state(), one, two, why)}
	}
	return nil
}

// lowered warns of a count that an effect lowers to its first value or below, where its author most
// likely means a floor: min("n", 0), or set("n", min(0, state.n - 1)).
func (c *tally) lowered(d Declared) []Remark {
	if c.up == 0 || c.down == 0 || c.first() < 0 {
		return nil
	}
	for _, by := range c.by {
		p := by.m.Verified.program
		site := p.Sites[by.effect.Index]
		first, ok := by.firstOf(d)
		floors := site.Effect == stubs.Min && slices.ContainsFunc(c.by, func(o counting) bool { return o.sign < 0 && o.m.Spec.Name == by.m.Spec.Name })
		if !ok || !floors && (by.sign >= 0 || site.Effect != stubs.Set) {
			continue
		}
		a := newAnalysis(p, 0)
		a.statement(p.Root)
		v, reached := a.values[by.effect.A]
		if reached && !v.floats.nan && (site.Type == stubs.Float && v.floats.hi <= first || site.Type.Integral() && float64(v.ints.hi) <= first) {
			return []Remark{by.m.remark(by.effect, "write max for a floor",
				"%s leaves the state %s at %v or less, and the count begins there", by.m.text(by.effect), by.state(), number(site.Type, int64(first)))}
		}
	}
	return nil
}

// full warns of a count of free places that begins without any: no task is let in, and so none ends
// and gives its place back.
func (c *tally) full(d Declared) []Remark {
	for _, by := range c.by {
		s, ok := by.declaration(d)
		p := by.m.Verified.program
		if !ok || c.first() > 0 || p.On != stubs.Enqueue || c.up&^stubs.Ends != 0 {
			continue
		}
		a, reads := newAnalysis(p, 0), false
		for _, r := range p.Reads {
			if r.Stub == stubs.State && r.Key == by.state() {
				a.facts.learn(a.facts.read(r), constant(s.Type, s.First))
				reads = true
			}
		}
		a.statement(p.Root)
		if reads && reaches(a.reached, stubs.Throw) && !reaches(a.reached, stubs.Continue) {
			return []Remark{by.m.remark(by.effect, "declare the number of places as its first value", "the state %s begins with no free place, so no task is let in, and none gives its place back", by.state())}
		}
	}
	return nil
}

// firstOf returns the first value of a numeric state.
func (c counting) firstOf(d Declared) (first float64, ok bool) {
	s, ok := c.declaration(d)
	if s.Type == stubs.Float {
		return math.Float64frombits(s.First), ok
	}
	return float64(int64(s.First)), ok && s.Type.Integral()
}

// declaration returns the declaration of the counted state.
func (c counting) declaration(d Declared) (s policy.State, ok bool) {
	return c.m.declaration(c.state(), d)
}

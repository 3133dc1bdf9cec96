package analyzer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// property is a name that a task keeps, by the stub of a task that runs; of labels with the key.
type property struct {
	stub stubs.ID
	key  string
}

func (p property) String() string { return policy.Read{Stub: p.stub, Key: p.key}.String() }

// arrives are the stubs of the arriving task for those of a task that runs.
var arrives = map[stubs.ID]stubs.ID{stubs.ArrivingName: stubs.TaskName, stubs.ArrivingKind: stubs.TaskKind, stubs.ArrivingLabels: stubs.TaskLabels}

// propertyOf returns the property that a policy reads of the task that it counts; ok is false if
// the read is about something else.
func propertyOf(on stubs.Event, r policy.Read) (p property, ok bool) {
	switch task, arriving := arrives[r.Stub]; {
	case arriving && on == stubs.Enqueue:
		return property{task, r.Key}, true
	case r.Stub == stubs.TenantName, r.Stub == stubs.LoopName:
		return property{stub: r.Stub}, true
	case on&stubs.Enqueue == 0 && slices.Contains([]stubs.ID{stubs.TaskName, stubs.TaskKind, stubs.TaskLabels}, r.Stub):
		return property{r.Stub, r.Key}, true
	}
	return p, false
}

// others warns of a count that goes up for some tasks and down for others: because of the match, or
// of conditions on names. It examines the values that the policies mention, and one more.
func (c *tally) others(members []Member) []Remark {
	for prop, values := range c.mentioned() {
		for _, value := range values {
			up, down := c.reaches(1, prop, value), c.reaches(-1, prop, value)
			if up == down || refused(members, prop, value) {
				continue
			}
			at, one, other := c.last(-1), "up", "down"
			if down {
				at, one, other = c.last(1), "down", "up"
			}
			which := fmt.Sprintf("with %s == %q", prop, value)
			if value == unmentioned {
				which = "with any other " + prop.String()
			}
			return []Remark{at.remark(at.effect, "give both the same match and the same conditions",
				"the state %s goes %s and not %s for tasks %s", at.state(), one, other, which)}
		}
	}
	return nil
}

// unmentioned is a name that no policy mentions.
const unmentioned = "\x00"

// maxValues is the greatest number of values of a property that others examines.
const maxValues = 64

// mentioned returns the values of properties that the counting policies mention.
func (c *tally) mentioned() func(yield func(property, []string) bool) {
	values := map[property]map[string]bool{}
	note := func(p property, texts ...string) {
		if values[p] == nil {
			values[p] = map[string]bool{}
		}
		for _, text := range texts {
			pattern, _ := policy.ParsePattern(text)
			values[p][pattern.Sample()] = true
		}
	}
	for _, by := range c.by {
		m, p := by.Spec.Match, by.Verified.program
		note(property{stub: stubs.TaskName}, slices.Concat(m.Tasks, m.Except)...)
		if len(m.Kinds) > 0 || slices.ContainsFunc(p.Reads, func(r policy.Read) bool { return stubs.Catalogue[min(r.Stub, stubs.EventValue)].Enum }) {
			note(property{stub: stubs.TaskKind}, stubs.KindNames[:]...)
		}
		note(property{stub: stubs.LoopName}, m.Loops...)
		for _, mention := range p.Mentions() {
			if prop, ok := propertyOf(p.On, mention.Read); ok && !strings.Contains(mention.Name, "*") {
				note(prop, mention.Name)
			}
		}
		for _, r := range p.Reads {
			if prop, ok := propertyOf(p.On, r); ok && r.Pattern != "" {
				note(prop, r.Pattern)
			}
		}
	}
	return func(yield func(property, []string) bool) {
		for _, p := range slices.SortedFunc(maps.Keys(values), func(p, q property) int { return strings.Compare(p.String(), q.String()) }) {
			texts := slices.Sorted(maps.Keys(values[p]))
			if p.stub != stubs.TaskKind {
				texts = append(texts[:min(len(texts), maxValues)], unmentioned)
			}
			if len(values[p]) > 0 && !yield(p, texts) {
				return
			}
		}
	}
}

// reaches reports whether some policy counts up, or down, for tasks with that value.
func (c *tally) reaches(sign int, prop property, value string) bool {
	return slices.ContainsFunc(c.by, func(by counting) bool {
		return by.sign == sign && by.concerns(prop, value) && by.with(prop, value).reached[by.effect]
	})
}

// refused reports whether some policy refuses all tasks with that value.
func refused(members []Member, prop property, value string) bool {
	return slices.ContainsFunc(members, func(m Member) bool {
		if m.Verified.program.On != stubs.Enqueue || m.Spec.Mode != policy.Enforce || !m.concerns(prop, value) {
			return false
		}
		for n, reached := range m.with(prop, value).reached {
			if reached && n.Op == policy.OpVerdict && stubs.Decision(n.Imm) != stubs.Throw {
				return false
			}
		}
		return true
	})
}

// concerns reports whether the policy's match lets tasks with that value through.
func (m Member) concerns(prop property, value string) bool {
	match := m.Spec.Match
	switch prop.stub {
	case stubs.TaskName:
		if s := match.Selector(); s != nil {
			return s.Selects(value)
		}
		return len(match.Tasks) == 0 || slices.Contains(match.Tasks, value)
	case stubs.TaskKind:
		return len(match.Kinds) == 0 || slices.Contains(match.Kinds, value)
	case stubs.LoopName:
		return len(match.Loops) == 0 || slices.Contains(match.Loops, value)
	}
	return true
}

// with follows the policy for tasks with that value.
func (m Member) with(prop property, value string) *analysis {
	a := newAnalysis(m.Verified.program, 0)
	for _, r := range a.p.Reads {
		if of, ok := propertyOf(a.p.On, r); !ok || of != prop {
			continue
		}
		v := nameValue(exactName(stubs.Intern(value)))
		if r.Pattern != "" {
			pattern, _ := policy.ParsePattern(r.Pattern)
			v = known(pattern.Matches(value))
		} else if r.Taken != policy.TakenWhole {
			v = constant(r.Type, r.Take(value))
		}
		a.facts.learn(a.facts.read(r), v)
	}
	a.statement(a.p.Root)
	return a
}

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

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

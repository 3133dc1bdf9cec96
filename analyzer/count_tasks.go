package analyzer

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// property is a constant property of a task, named by the stub of a running task; of labels with
// the key. Values of a property are texts.
type property struct {
	stub stubs.ID
	key  string
}

// number reports whether the values of the property are numbers.
func (p property) number() bool { return p.stub == stubs.TaskPriority }

func (p property) String() string { return ir.Read{Stub: p.stub, Key: p.key}.String() }

// arrives maps the stubs of a running task to the same stubs of the arriving task.
var arrives = map[stubs.ID]stubs.ID{
	stubs.ArrivingName: stubs.TaskName, stubs.ArrivingKind: stubs.TaskKind, stubs.ArrivingPriority: stubs.TaskPriority, stubs.ArrivingLabels: stubs.TaskLabels,
}

// propertyOf returns the property that a policy reads of the task that it counts; ok is false if
// the read is about something else.
func propertyOf(on stubs.Event, r ir.Read) (p property, ok bool) {
	switch task, arriving := arrives[r.Stub]; {
	case arriving && on == stubs.Enqueue:
		return property{task, r.Key}, true
	case r.Stub == stubs.TenantName, r.Stub == stubs.LoopName:
		return property{stub: r.Stub}, true
	case on&stubs.Enqueue == 0 && slices.Contains([]stubs.ID{stubs.TaskName, stubs.TaskKind, stubs.TaskPriority, stubs.TaskLabels}, r.Stub):
		return property{r.Stub, r.Key}, true
	}
	return p, false
}

// unequal warns of a count that goes up for some tasks and down for different ones, because of the
// match or of conditions on names. It examines the values that the policies mention, and one more.
func (c *tally) unequal(members []Member) []Remark {
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
			return []Remark{at.m.remark(at.effect, "give both the same match and the same conditions",
				"the state %s goes %s and not %s for tasks%s", at.state(), one, other, c.with(prop, value))}
		}
	}
	return nil
}

// unmentioned is a name that no policy mentions.
const unmentioned = "\x00"

// maxValues bounds how many values of a property are examined.
const maxValues = 64

// mentioned returns the values of properties that the counting policies mention.
func (c *tally) mentioned() func(yield func(property, []string) bool) {
	values := map[property]map[string]bool{}
	note := func(p property, texts ...string) {
		if values[p] == nil {
			values[p] = map[string]bool{}
		}
		for _, text := range texts {
			pattern, _ := lang.ParsePattern(text)
			values[p][pattern.Sample()] = true
		}
	}
	for _, by := range c.by {
		m, p := by.m.Spec.Match, by.m.Verified.program
		note(property{stub: stubs.TaskName}, slices.Concat(m.Tasks, m.Except)...)
		if len(m.Kinds) > 0 || slices.ContainsFunc(p.Reads, func(r ir.Read) bool { return stubs.Catalogue[min(r.Stub, stubs.EventValue)].Enum }) {
			note(property{stub: stubs.TaskKind}, stubs.KindNames[:]...)
		}
		note(property{stub: stubs.LoopName}, m.Loops...)
		for _, mention := range p.Mentions() {
			if prop, ok := propertyOf(p.On, mention.Read); ok && !strings.Contains(mention.Name, "*") {
				note(prop, mention.Name)
			}
		}
		for _, r := range p.Reads {
			switch prop, ok := propertyOf(p.On, r); {
			case ok && r.Pattern != "":
				note(prop, r.Pattern)
			case ok && (prop.number() || r.Taken == ir.TakenInt || r.Taken == ir.TakenFloat):
				note(prop, numbersIn(p)...)
			case ok && r.Taken == ir.TakenHash:
				note(prop, samples...)
			}
		}
	}
	return func(yield func(property, []string) bool) {
		for _, p := range slices.SortedFunc(maps.Keys(values), func(p, q property) int { return strings.Compare(p.String(), q.String()) }) {
			texts := slices.Sorted(maps.Keys(values[p]))
			texts = texts[:min(len(texts), maxValues)]
			if p.stub != stubs.TaskKind && !p.number() {
				texts = append(texts, unmentioned)
			}
			if len(values[p]) > 0 && !yield(p, texts) {
				return
			}
		}
	}
}

// samples are texts with various hashes.
var samples = func() (texts []string) {
	for i := range maxValues {
		texts = append(texts, fmt.Sprint("a", i))
	}
	return texts
}()

// numbersIn returns the whole numbers of a program, with their neighbours: the values at which its
// comparisons change.
func numbersIn(p *ir.Program) (texts []string) {
	p.Root.Any(func(n *ir.Node) bool {
		number := int64(n.Imm)
		if n.Op == ir.OpConst && n.Type == stubs.Float {
			number = int64(math.Float64frombits(n.Imm))
		}
		if n.Op == ir.OpConst && (n.Type == stubs.Int || n.Type == stubs.Float) && -1<<31 < number && number < 1<<31-1 {
			texts = append(texts, fmt.Sprint(number-1), fmt.Sprint(number), fmt.Sprint(number+1))
		}
		return false
	})
	return texts
}

// reaches reports whether some policy counts up, or down, for tasks with that value.
func (c *tally) reaches(sign int, prop property, value string) bool {
	return slices.ContainsFunc(c.by, func(by counting) bool {
		return by.sign == sign && by.m.concerns(prop, value) && by.m.with(prop, value).reached[by.effect]
	})
}

// refused reports whether some policy refuses all tasks with that value.
func refused(members []Member, prop property, value string) bool {
	return slices.ContainsFunc(members, func(m Member) bool {
		if m.Verified.program.On != stubs.Enqueue || m.Spec.Mode != policy.Enforce || !m.concerns(prop, value) {
			return false
		}
		for n, reached := range m.with(prop, value).reached {
			if reached && n.Op == ir.OpVerdict && stubs.Decision(n.Imm) != stubs.Throw {
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
		if prop.number() {
			n, _ := strconv.ParseInt(value, 10, 64)
			v = intValue(r.Type, exactly(n))
		} else if r.Pattern != "" {
			pattern, _ := lang.ParsePattern(r.Pattern)
			v = known(pattern.Matches(value))
		} else if r.Taken != ir.TakenWhole {
			v = constant(r.Type, r.Take(value))
		}
		a.facts.learn(a.facts.read(r), v)
	}
	a.statement(a.p.Root)
	return a
}

package analyzer

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// uneven warns of a count that goes up and down by different amounts for the same task, because of
// the numbers or because of conditions that a policy cannot judge in the same way later. In the
// long run such a count only rises, or only falls.
func (c *tally) uneven(members []Member) []Remark {
	if !c.comparable() {
		return nil
	}
	if found := c.unevenFor(property{stub: stubs.Draw}, ""); found != nil {
		return found
	}
	for prop, values := range c.mentioned() {
		for _, value := range values {
			if refused(members, prop, value) {
				continue
			}
			if found := c.unevenFor(prop, value); found != nil {
				return found
			}
		}
	}
	return nil
}

// comparable reports whether the amounts of the policies can be compared: all are in one mode,
// count under one key, and are evaluated once for each task.
func (c *tally) comparable() bool {
	first := c.by[0]
	return !slices.ContainsFunc(c.by, func(by counting) bool {
		p := by.m.Verified.program
		return by.m.Spec.Mode != first.m.Spec.Mode || by.m.Spec.Mode == policy.Off || p.ForEach()&stubs.Enqueue != 0 ||
			!slices.Equal(by.m.keyKind(p.Sites[by.effect.Index].By), first.m.keyKind(first.m.Verified.program.Sites[first.effect.Index].By))
	})
}

// unevenFor is uneven for tasks with one value of a property; the stub Draw stands for any task.
func (c *tally) unevenFor(prop property, value string) []Remark {
	for _, l := range lives {
		if l.events&c.up == 0 || l.events&c.down == 0 {
			continue
		}
		up, down := c.over(l.events&c.up, prop, value), c.over(l.events&c.down, prop, value)
		if up.vague || down.vague || len(up.all) == 0 || len(down.all) == 0 {
			continue
		}
		net := (&additions{}).both(up.all, down.all)
		least, most, plain := extremes(net)
		switch falls := most <= 0 && least < 0; {
		case !plain && (len(net) > 1 || up.bounded || down.bounded || len(net[0]) == 0):
			continue
		case plain && !falls && !(least >= 0 && most > 0):
			continue
		case plain && falls && down.bounded, plain && !falls && up.bounded:
			continue
		}
		at, of := c.last(-c.first()), ""
		if prop.stub != stubs.Draw {
			of = c.with(prop, value)
		}
		typ := at.m.Verified.program.Sites[at.effect.Index].Type
		return []Remark{at.m.remark(at.effect, "count by one number, and by conditions about what a task keeps: its name, kind, labels and priority",
			"the state %s goes up by %s and down by %s for a task that %s%s", at.state(), showAll(up.all, typ, 1), showAll(down.all, typ, -1), l.does, of)}
	}
	return nil
}

// showAll lists the amounts of one direction.
func showAll(all []amount, of stubs.Type, sign float64) string {
	var texts []string
	for _, a := range all {
		texts = append(texts, amount{}.plus(a, sign).show(of))
	}
	slices.Sort(texts)
	return strings.Join(texts, " or ")
}

// first returns the sign of the effects that count a task first: -1 for a count of free places.
func (c *tally) first() int {
	if (c.down & -c.down) < (c.up & -c.up) {
		return -1
	}
	return 1
}

// counted is the amount that policies add to a state for one task.
type counted struct {
	all            []amount
	vague, bounded bool
}

// over returns the amount that the policies add on several events, each once.
func (c *tally) over(events stubs.Event, prop property, value string) counted {
	total := counted{all: []amount{{}}}
	for range bits.OnesCount16(uint16(events)) {
		event := events & -events
		events &^= event
		for i, by := range c.by {
			again := slices.ContainsFunc(c.by[:i], func(o counting) bool { return o.m.Spec.Name == by.m.Spec.Name })
			if by.m.Verified.program.On&event == 0 || again || !by.m.concerns(prop, value) {
				continue
			}
			total.vague = total.vague || !c.matchAlike(prop)
			f := c.follow(by, prop, value)
			total.all = f.both(total.all, f.statement(by.m.Verified.program.Root))
			total.vague, total.bounded = total.vague || f.vague, total.bounded || by.bound || f.bounded || f.sum.bounded
		}
	}
	return total
}

// follow follows a policy that counts, for tasks with that value.
func (c *tally) follow(m counting, prop property, value string) *additions {
	return &additions{a: m.m.with(prop, value), sum: newSum(m.m.Verified.program, m.state()), by: func(n *ir.Node) bool {
		return slices.ContainsFunc(c.by, func(by counting) bool { return by.effect == n })
	}}
}

// matchAlike reports whether the matches of the policies differ in nothing but the property.
func (c *tally) matchAlike(prop property) bool {
	a := c.by[0].m.Spec.Match
	return !slices.ContainsFunc(c.by, func(by counting) bool {
		b := by.m.Spec.Match
		return prop.stub != stubs.TaskName && !(slices.Equal(a.Tasks, b.Tasks) && slices.Equal(a.Except, b.Except)) ||
			prop.stub != stubs.TaskKind && !slices.Equal(a.Kinds, b.Kinds) || prop.stub != stubs.LoopName && !slices.Equal(a.Loops, b.Loops)
	})
}

// with describes the tasks that have one of the mentioned values of a property, or another.
func (c *tally) with(prop property, value string) string {
	switch {
	case value != unmentioned && prop.number():
		return fmt.Sprintf(" with %s == %s", prop, value)
	case value != unmentioned:
		return fmt.Sprintf(" with %s == %q", prop, value)
	}
	for p, values := range c.mentioned() {
		if p == prop && len(values) <= 4 {
			quoted := make([]string, len(values)-1)
			for i, value := range values[:len(values)-1] {
				quoted[i] = fmt.Sprintf("%q", value)
			}
			return fmt.Sprintf(" with another %s than %s", prop, strings.Join(quoted, " or "))
		}
	}
	return " with any other " + prop.String()
}

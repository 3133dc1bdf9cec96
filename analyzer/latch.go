package analyzer

import (
	"fmt"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// latches returns warnings about policies that refuse all tasks while a state is true, high or low,
// if only tasks that have been let in bring it back, and the last of them need not: no other task
// comes then. told are the states that have a warning already.
func latches(members []Member, d Declared, told map[string]bool) (all []Remark) {
	reach, counts := rangesOf(members, d).of, countsOf(members)
	for i, m := range members {
		p := m.Verified.program
		if p.On != stubs.Enqueue || m.Spec.Mode == policy.Off || p.AsksRunning() || !p.Root.Any(throws) {
			continue
		}
		for _, r := range p.Reads {
			s, ok := m.declaration(r.Key, d)
			if r.Stub != stubs.State && r.Stub != stubs.StateAverage || !ok || s.IsBucket() || s.TTL > 0 || told[m.own(r.Key)] || !counts[m.own(r.Key)].bothWays() {
				continue
			}
			for _, is := range farthest(s, reach[m.own(r.Key)]) {
				l := latch{m, r, is.says, is.value, i, members}
				if at := l.refuses(); at != nil && l.stays() {
					all, told[m.own(r.Key)] = append(all, m.remark(at, "let a share in, as in not chance(0.05); or bring the state back on a tick",
						"%s refuses all tasks while %v is %s, and only tasks that have been let in change that: if the last of them does not, no task ever does", m.text(at), r, is.says)), true
					break
				}
			}
		}
	}
	return all
}

// bothWays reports whether policies take the state up and down, and not by counting tasks from when
// they come until they end: what a task has added to such a count it takes off. drifts has warnings
// about the others.
func (c *tally) bothWays() bool {
	switch {
	case c == nil || !c.moves && c.rises != c.falls:
		return false
	case c.other || c.up == 0 || c.down == 0:
		return true
	}
	return (c.up&^comes != 0 || c.down&^stubs.Ends != 0) && (c.down&^comes != 0 || c.up&^stubs.Ends != 0)
}

// latch is a policy that may refuse all tasks because of a state that it reads.
type latch struct {
	m       Member
	read    ir.Read
	says    string // "true", "high"
	stuck   value  // of the state
	index   int    // of the policy among members
	members []Member
}

// extreme is a value that policies may give a state, and that is not its first one.
type extreme struct {
	says string
	value
}

func farthest(s policy.State, reach value) (all []extreme) {
	first := constant(s.Type, s.First)
	switch {
	case s.Type == stubs.Bool:
		return []extreme{{fmt.Sprint(s.First == 0), constant(s.Type, 1-s.First)}}
	case reach.of != s.Type:
	case s.Type == stubs.Float:
		all = []extreme{{"low", floatValue(floats{lo: max(reach.floats.lo, -large), hi: max(reach.floats.lo, -large)})},
			{"high", floatValue(floats{lo: min(reach.floats.hi, large), hi: min(reach.floats.hi, large)})}}
	default:
		all = []extreme{{"high", intValue(s.Type, exactly(min(reach.ints.hi, later)))}}
	}
	return slices.DeleteFunc(all, func(e extreme) bool { return e.same(first) })
}

// with returns the analysis of a policy while the state, and its average, have a value.
func (l latch) with(m Member, v value) *analysis {
	a := newAnalysis(m.Verified.program, 0)
	for _, r := range a.p.Reads {
		if r.Stub != stubs.State && r.Stub != stubs.StateAverage || m.own(r.Key) != l.m.own(l.read.Key) {
			continue
		}
		is := v
		if r.Type == stubs.Float && v.of.Integral() { // the average of ints
			is = floatValue(v.ints.toFloats())
		}
		a.facts.learn(a.facts.read(r), is)
	}
	return a
}

// letsIn reports whether the policy lets some tasks in while the state has a value.
func (l latch) letsIn(v value) bool {
	a := l.with(l.m, v)
	a.statement(a.p.Root)
	return reaches(a.reached, stubs.Continue)
}

// refuses returns a throw if the policy refuses all tasks while the state is stuck, and lets some
// in otherwise.
func (l latch) refuses() (at *ir.Node) {
	if l.letsIn(l.stuck) || !l.letsIn(anyOf(l.stuck.of)) {
		return nil
	}
	a := l.with(l.m, l.stuck)
	a.statement(a.p.Root)
	a.p.Root.Any(func(n *ir.Node) bool {
		if throws(n) && a.reached[n] {
			at = n
		}
		return at != nil
	})
	return at
}

// stays reports whether the state may stay stuck: some policy gives it that value, all policies
// that may give it another one are about tasks which the policy has let in, and none of them does
// so for each task.
func (l latch) stays() bool {
	comes, goes := l.stuck.of != stubs.Bool, false
	for i, o := range l.members {
		p := o.Verified.program
		a := newAnalysis(p, 0)
		if i == l.index { // which lets tasks in only while the state is not stuck
			a = l.with(o, l.stuck)
		}
		a.statement(p.Root)
		refused := p.On&^admitted == 0 || p.On == stubs.Enqueue && i > l.index
		for _, n := range l.writesIn(o) {
			v, ok := a.values[n.A]
			switch other := !ok || !v.same(l.stuck); {
			case o.Spec.Mode != l.m.Spec.Mode:
				return false
			case i == l.index && !a.reached[n]:
				comes = true
				continue
			case other && (!refused || !l.m.covers(o) || p.On&(stubs.Block|stubs.Unblock) != 0):
				return false
			default:
				goes = goes || other
				comes = comes || v.same(l.stuck) || !v.truth.constant()
			}
		}
		if l.sure(o) {
			return false
		}
	}
	return comes && goes
}

// writesIn returns the effects of a policy that write the state.
func (l latch) writesIn(o Member) (all []*ir.Node) {
	p := o.Verified.program
	p.Root.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpEffect && p.Sites[n.Index].Effect.Writes() && o.own(p.Sites[n.Index].Name) == l.m.own(l.read.Key) {
			all = append(all, n)
		}
		return false
	})
	return all
}

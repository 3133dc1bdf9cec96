package analyzer

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// once are the events that each task has at most once.
const once = stubs.Enqueue | stubs.Start | stubs.Exit

// twice returns warnings about tasks for which policies take the same number of tokens from one
// bucket twice. A policy about only some tasks is left out, because these tasks may cost more.
func twice(members []Member) (all []Remark) {
	var taking []Member
	for _, m := range members {
		if m.Spec.Mode != policy.Off && len(m.takes()) > 0 && !m.selectsNames() {
			taking = append(taking, m)
		}
	}
	for i, m := range taking {
		for _, o := range taking[:i+1] {
			if m.Spec.Mode != o.Spec.Mode || !m.covers(o) || !o.covers(m) {
				continue
			}
			if found := m.takesAfter(o); found != nil {
				all = append(all, *found)
				break
			}
		}
	}
	return all
}

// takesAfter returns a warning if m takes from a bucket from which o has taken for the same task.
func (m Member) takesAfter(o Member) *Remark {
	for _, n := range m.takes() {
		for _, first := range o.takes() {
			on, before := m.Verified.program.On, o.Verified.program.On
			switch {
			case !m.sameTake(n, o, first) || (on|before)&^once != 0:
			case m.Spec.Name == o.Spec.Name:
				if bits.OnesCount16(uint16(on)) > 1 {
					r := m.remark(n, "evaluate the policy on one event", "%s takes for each task more than once: the policy is evaluated on %v", m.text(n), on)
					return &r
				}
			case on&before == 0 && (m.takesAlways(n) || o.takesAlways(first)), on == before && on == stubs.Enqueue && m.takesBehind(n, o):
				r := m.remark(n, "take once, in one policy; or declare two buckets", "%s takes a second time for each task: the policy %q has taken from this bucket on %v", m.text(n), o.Spec.Name, before)
				return &r
			}
		}
	}
	return nil
}

// takes returns the operations of a policy that take tokens.
func (m Member) takes() (all []*ir.Node) {
	m.Verified.program.Root.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpTake {
			all = append(all, n)
		}
		return false
	})
	return all
}

// sameTake reports whether two operations take the same number of tokens, under the same key.
func (m Member) sameTake(n *ir.Node, o Member, other *ir.Node) bool {
	a, b := m.Verified.program.Sites[n.Index], o.Verified.program.Sites[other.Index]
	ofTask := func(m Member, n *ir.Node) string { return strings.ReplaceAll(m.text(n.A), "arriving.", "task.") }
	if m.own(a.Name) != o.own(b.Name) || ofTask(m, n) != ofTask(o, other) {
		return false
	}
	return slices.EqualFunc(m.keyKind(a.By), o.keyKind(b.By), func(p, q keyPart) bool {
		return p.constant == q.constant && p.word == q.word && p.text == q.text
	})
}

// takesAlways reports whether the policy asks for the tokens on each path.
func (m Member) takesAlways(n *ir.Node) bool {
	for at := m.Verified.program.Root; ; at = at.B {
		switch {
		case at.Op == ir.OpIf:
			return n == first(at.A)
		case at.Op == ir.OpLet && n == first(at.A):
			return true
		case at.Op != ir.OpLet && at.Op != ir.OpSeq:
			return false
		}
	}
}

// first returns the part of a condition evaluated first.
func first(n *ir.Node) *ir.Node {
	for n.Op == ir.OpNot || n.Op == ir.OpAnd || n.Op == ir.OpOr {
		n = n.A
	}
	return n
}

// takesBehind reports whether m may take on an arrival on which o has taken.
func (m Member) takesBehind(n *ir.Node, o Member) (yes bool) {
	j := newJoint()
	before := j.join(o)
	before.taking = func() {
		if a := j.join(m); !yes {
			a.statement(a.p.Root)
			yes = a.reached[n]
		}
	}
	before.statement(before.p.Root)
	return yes
}

// selectsNames reports whether the policy compares names.
func (m Member) selectsNames() bool {
	p := m.Verified.program
	return len(p.Mentions()) > 0 || slices.ContainsFunc(p.Reads, func(r ir.Read) bool { return r.Pattern != "" || r.Taken != ir.TakenWhole })
}

package analyzer

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// refusedLater warns of a count of arriving tasks that also counts tasks which are then refused, by
// the policy that counts or by a later one: a refused task has neither an exit nor a leave.
func (c *tally) refusedLater(members []Member) []Remark {
	for i, m := range members {
		if m.Verified.program.On&stubs.Enqueue == 0 || m.Spec.Mode == policy.Off || !c.countsIn(m) {
			continue
		}
		r := refusals{t: c, joint: newJoint(), later: members[i+1:]}
		if at, by := r.look(m); at != nil {
			hint, refuser := "write throw(...) and the effect on sides of a choice that exclude each other", "this policy"
			if by != m.Spec.Name {
				hint, refuser = "write the policy behind all policies that refuse tasks", "the policy \""+by+"\""
			}
			return []Remark{m.remark(at, hint, "%s counts tasks that %s then refuses: a refused task has neither exit nor leave, and stays counted", m.text(at), refuser)}
		}
	}
	return nil
}

// countsIn reports whether the policy counts in c.
func (c *tally) countsIn(m Member) bool {
	return slices.ContainsFunc(c.by, func(by counting) bool { return by.m.Spec.Name == m.Spec.Name })
}

// refusals looks for paths on which a policy counts the arriving task, and then it is refused.
type refusals struct {
	t *tally
	*joint
	later []Member // that are evaluated after the policy
}

// look returns an effect that counts a task that is then refused, and the policy that refuses it.
func (r *refusals) look(m Member) (at *ir.Node, by string) {
	w := &pathwise{a: r.join(m), left: maxPaths}
	var others []Member
	for _, o := range r.later {
		if o.Verified.program.On&stubs.Enqueue != 0 && o.Spec.Mode == m.Spec.Mode && o.Verified.program.Root.Any(throws) && m.meets(o) {
			others = append(others, o)
		}
	}
	w.walk(w.a.p.Root, func(last *ir.Node) {
		counts := r.net(m, w.fired, nil)
		switch {
		case at != nil || counts == nil:
		case throws(last):
			at, by = counts, m.Spec.Name
		default:
			for _, o := range others {
				if r.refuses(m, w.fired, o) && at == nil {
					at, by = counts, o.Spec.Name
				}
			}
		}
	})
	return at, by
}

// refuses reports whether a later policy may refuse the task that fired counts, without taking it
// off the count.
func (r *refusals) refuses(m Member, fired []*ir.Node, o Member) (yes bool) {
	mark := r.mark()
	defer r.undo(mark)
	w := &pathwise{a: r.join(o), left: maxPaths}
	w.walk(w.a.p.Root, func(last *ir.Node) {
		yes = yes || throws(last) && r.net(o, w.fired, r.amounts(m, fired)) != nil
	})
	return yes
}

// amounts returns the amounts that the effects add to the state.
func (r *refusals) amounts(m Member, fired []*ir.Node) (all []amount) {
	for _, n := range fired {
		if i := slices.IndexFunc(r.t.by, func(by counting) bool { return by.effect == n }); i >= 0 {
			a, ok := newSum(m.Verified.program, r.t.by[i].state()).effect(n)
			if !ok {
				a = amount{"?": 1}
			}
			all = append(all, a)
		}
	}
	return all
}

// net returns an effect of fired that counts, or of an earlier policy any node, if the effects and
// the amounts before them do not cancel each other.
func (r *refusals) net(m Member, fired []*ir.Node, before []amount) (counts *ir.Node) {
	total := amount{}
	for _, a := range slices.Concat(before, r.amounts(m, fired)) {
		total = total.plus(a, 1)
	}
	if len(total) == 0 {
		return nil
	}
	for _, n := range fired {
		if slices.ContainsFunc(r.t.by, func(by counting) bool { return by.effect == n }) {
			return n
		}
	}
	if len(before) > 0 {
		return m.Verified.program.Root
	}
	return nil
}

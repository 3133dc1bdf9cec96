package analyzer

import (
	"slices"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// ordered returns warnings about policies that rank the tasks of a ready-made order.
func ordered(members []Member) (all []Remark) {
	order := slices.IndexFunc(members, func(m Member) bool { return m.Spec.Name == policy.OrderName && m.ranks() })
	for i, m := range members {
		if order >= 0 && i != order && m.ranks() && sameLoop(m.Spec.Match, members[order].Spec.Match) {
			all = append(all, m.remark(m.effect(isRank), "remove one of them; or rank in one policy, by a condition",
				"the policy %q ranks the same tasks: of two ranks of a task the last counts, and ranks compare as plain numbers", policy.OrderName))
		}
	}
	return all
}

// ranks returns warnings about policies whose ranks order one queue without a ready-made order.
func ranks(members []Member) (all []Remark) {
	var ranking []Member
	for _, m := range members {
		if m.ranks() && m.Spec.Name != policy.OrderName {
			ranking = append(ranking, m)
		}
	}
	for i, m := range ranking {
		at := m.effect(isRank)
		alone := !slices.ContainsFunc(members, func(o Member) bool {
			return o.ranks() && o.Spec.Name != m.Spec.Name && sameLoop(m.Spec.Match, o.Spec.Match)
		})
		if alone && m.ranksAlike() {
			all = append(all, m.remark(at, "rank some tasks by another number",
				"%s changes nothing: all tasks of the queue have this rank", m.text(at)))
		}
		all = append(all, m.besides(ranking[:i], at)...)
	}
	return all
}

// besides returns a warning about the rank at of m and the ranks of earlier policies.
func (m Member) besides(earlier []Member, at *policy.Node) []Remark {
	for _, o := range earlier {
		mine, theirs := m.rankUnit(), o.rankUnit()
		switch {
		case !sameLoop(m.Spec.Match, o.Spec.Match):
		case mine != theirs && mine != stubs.Unit && theirs != stubs.Unit:
			return []Remark{m.remark(at, "rank by one unit, or in one policy",
				"its ranks are of type %v, and those of the policy %q of type %v: ranks compare as plain numbers", mine, o.Spec.Name, theirs)}
		case m.alwaysRanks() && o.alwaysRanks() && sameTasks(m.Spec.Match, o.Spec.Match):
			return []Remark{m.remark(at, "remove one of them; or rank in one policy, by a condition",
				"the policy %q ranks the same tasks, too: the last rank of a task counts", o.Spec.Name)}
		}
	}
	return nil
}

func isRank(p *policy.Program, n *policy.Node) bool { return p.Sites[n.Index].Effect == stubs.Rank }

func (m Member) ranks() bool {
	return slices.ContainsFunc(m.Verified.program.Sites, func(s policy.Site) bool { return s.Effect == stubs.Rank })
}

// rankNodes returns the operands of the policy's ranks.
func (m Member) rankNodes() (all []*policy.Node) {
	p := m.Verified.program
	p.Root.Any(func(n *policy.Node) bool {
		if n.Op == policy.OpEffect && isRank(p, n) {
			all = append(all, n.A)
		}
		return false
	})
	return all
}

// rankUnit returns the type of the policy's ranks other than constants, which are before or behind
// all others; Unit if all are constants.
func (m Member) rankUnit() stubs.Type {
	for _, n := range m.rankNodes() {
		if n.Op != policy.OpConst {
			return n.Type
		}
	}
	return stubs.Unit
}

// alwaysRanks reports whether the policy ranks each task that it matches.
func (m Member) alwaysRanks() bool {
	a := &analysis{p: m.Verified.program}
	return a.lost(a.p.Root)[target{effect: stubs.Rank}] != nil
}

// ranksAlike reports whether all tasks have one rank if no other policy ranks them: it is 0, or the
// policy gives it to all of them.
func (m Member) ranksAlike() bool {
	nodes := m.rankNodes()
	for _, n := range nodes {
		if n.Op != policy.OpConst || n.Imm != nodes[0].Imm {
			return false
		}
	}
	match := m.Spec.Match
	return nodes[0].Imm == 0 || m.alwaysRanks() && len(match.Tasks)+len(match.Except)+len(match.Kinds) == 0
}

// sameTasks reports whether two matches have the same lists. A policy for all tasks and another for
// some of them may be meant as a rule and its exception.
func sameTasks(a, b policy.Match) bool {
	return slices.Equal(a.Tasks, b.Tasks) && slices.Equal(a.Except, b.Except) && slices.Equal(a.Kinds, b.Kinds)
}

package analyzer

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
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

// ranks returns warnings about policies that rank tasks of one queue without a ready-made order.
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
		if alone && m.ranksByArrival() {
			all = append(all, m.remark(at, "remove it", "%s changes nothing: without it tasks start in the order of their arrival, too", m.text(at)))
		}
		all = append(all, m.besides(ranking[:i], at)...)
		if units := m.twoUnits(); units != nil {
			all = append(all, units...)
			continue
		}
		all = append(all, m.besideMoments()...)
	}
	return all
}

// besides returns a warning about the rank at of m and the ranks of earlier policies.
func (m Member) besides(earlier []Member, at *ir.Node) []Remark {
	for _, o := range earlier {
		mine, theirs := m.rankUnit(), o.rankUnit()
		switch {
		case !sameLoop(m.Spec.Match, o.Spec.Match):
		case mine != theirs && mine != stubs.Unit && theirs != stubs.Unit:
			return []Remark{m.remark(at, "rank by one unit, or in one policy",
				"%s ranks tasks by %s, and the policy %q by %s: the queue compares the bare numbers, and %s there", m.text(at), unitOf[mine], o.Spec.Name, unitOf[theirs], bare(mine, theirs))}
		case m.alwaysRanks() && o.alwaysRanks() && sameTasks(m.Spec.Match, o.Spec.Match):
			return []Remark{m.remark(at, "remove one of them; or rank in one policy, by a condition",
				"the policy %q ranks the same tasks, too: the last rank of a task counts", o.Spec.Name)}
		case m.alwaysRanks() && m.covers(o) && m.Spec.Mode == o.Spec.Mode:
			at := o.effect(isRank)
			return []Remark{o.remark(at, "let this policy come after the other, or leave these tasks out there",
				"%s changes nothing: the policy %q is evaluated later and ranks these tasks, too, and the last rank counts", o.text(at), m.Spec.Name)}
		}
	}
	return nil
}

func isRank(p *ir.Program, n *ir.Node) bool { return p.Sites[n.Index].Effect == stubs.Rank }

func (m Member) ranks() bool {
	return slices.ContainsFunc(m.Verified.program.Sites, func(s ir.Site) bool { return s.Effect == stubs.Rank })
}

// rankNodes returns the operands of the policy's ranks.
func (m Member) rankNodes() (all []*ir.Node) {
	p := m.Verified.program
	p.Root.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpEffect && isRank(p, n) {
			all = append(all, n.A)
		}
		return false
	})
	return all
}

// rankUnit returns the type of the policy's first rank with a unit, which is not 0 and no plain
// number: a plain number is before or after all other ranks. It returns Int if no rank has a unit
// and some rank is computed, and Unit if all ranks are plain numbers.
func (m Member) rankUnit() stubs.Type {
	unit := stubs.Unit
	for _, n := range m.rankNodes() {
		switch {
		case plainRank(n):
		case n.Type != stubs.Int:
			return n.Type
		default:
			unit = stubs.Int
		}
	}
	return unit
}

func plainRank(n *ir.Node) bool {
	return n.Op == ir.OpConst && (n.Type == stubs.Int || n.Imm == 0)
}

// twoUnits returns a warning about ranks of several units in one policy.
func (m Member) twoUnits() []Remark {
	unit := m.rankUnit()
	for _, n := range m.rankNodes() {
		if !plainRank(n) && n.Type != unit {
			return []Remark{m.remark(n, "rank by one unit",
				"%s ranks tasks by %s, and other ranks of the policy are by %s: the queue compares the bare numbers, and %s there", m.text(n), unitOf[n.Type], unitOf[unit], bare(unit, n.Type))}
		}
	}
	return nil
}

// unitOf names what ranks of a type count.
var unitOf = map[stubs.Type]string{stubs.Int: "plain numbers", stubs.Duration: "nanoseconds", stubs.Bytes: "bytes"}

// bare says which number a unit is, of ranks of two types.
func bare(a, b stubs.Type) string {
	if a == stubs.Duration || b == stubs.Duration {
		return "1ms is 1000000"
	}
	return "1KiB is 1024"
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
		if n.Op != ir.OpConst || n.Imm != nodes[0].Imm {
			return false
		}
	}
	match := m.Spec.Match
	return nodes[0].Imm == 0 || m.alwaysRanks() && len(match.Tasks)+len(match.Except)+len(match.Kinds) == 0
}

// ranksByArrival reports whether the policy ranks all tasks by nothing but the time of their
// arrival.
func (m Member) ranksByArrival() bool {
	a := newAnalysis(m.Verified.program, 0)
	for _, r := range a.p.Reads {
		if r.Stub != stubs.RuntimeUptime {
			return false
		}
	}
	last := a.lastOf(target{effect: stubs.Rank})
	match := m.Spec.Match
	return last != nil && a.count(isRank) == 1 && a.slope(last.A, source{stub: stubs.RuntimeUptime}) == rising && len(match.Tasks)+len(match.Except)+len(match.Kinds) == 0
}

// sameTasks reports whether two matches have the same lists. A policy for all tasks and another for
// some of them may be meant as a rule and its exception.
func sameTasks(a, b policy.Match) bool {
	return slices.Equal(a.Tasks, b.Tasks) && slices.Equal(a.Except, b.Except) && slices.Equal(a.Kinds, b.Kinds)
}

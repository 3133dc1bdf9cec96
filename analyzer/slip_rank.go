package analyzer

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// urgency warns of a rank that starts the least urgent task first.
func (a *analysis) urgency(n *ir.Node) {
	if !isRank(a.p, n) || !a.reached[n] {
		return
	}
	only := target{effect: stubs.Rank}
	sole := a.lastOf(only) == n && a.count(isRank) == 1
	switch {
	case a.slope(n.A, source{stub: stubs.ArrivingPriority}) == rising:
		hint := "write rank(-arriving.priority)"
		if n.A.Op != ir.OpRead {
			hint = "write a minus in front of arriving.priority"
		}
		a.warn(n, hint, "the lowest rank starts first, and a greater priority is more urgent: %s starts the least urgent task first", a.text(n))
	case a.slope(n.A, source{stub: stubs.ArrivingVirtualTime}) == falling:
		a.warn(n, "write rank(arriving.virtual_time)", "the lowest rank starts first, and a tenant that has had little has a low virtual time: %s starts the tenant first that has had most", a.text(n))
	case sole && a.slope(n.A, source{stub: stubs.ArrivingDeadline}) == falling:
		a.warn(n, "write rank(runtime.uptime + arriving.deadline)", "the lowest rank starts first: %s starts tasks without a deadline first, and the most urgent task last", a.text(n))
	case sole && a.slope(n.A, source{stub: stubs.ArrivingDeadline}) == rising && a.slope(n.A, source{stub: stubs.RuntimeUptime}) == falling:
		a.warn(n, "write rank(runtime.uptime + arriving.deadline)", "the moment of a deadline is later for a task that arrives later: %s counts the time of arrival the other way round", a.text(n))
	case sole && a.slope(n.A, source{stub: stubs.ArrivingDeadline}) == rising && a.slope(n.A, source{stub: stubs.RuntimeUptime}) == flat:
		a.warn(n, "write rank(runtime.uptime + arriving.deadline)", "%s is the time left when a task arrives, and no moment: a task that has waited comes no nearer to its turn", a.text(n))
	}
}

// demoted returns a warning about a policy that moves tasks with a priority above 0 to the
// background, and no other tasks. A policy about only some tasks, by their names, kinds or labels,
// gets no warning: its author may grant these tasks no priority.
func (a *analysis) demoted() []Warning {
	p := a.p
	if p.On != stubs.Enqueue || !slices.ContainsFunc(p.Sites, func(s ir.Site) bool { return s.Effect == stubs.Background }) {
		return nil
	}
	moves := func(priorities interval) (some bool, at *ir.Node) {
		w := &pathwise{a: newAnalysis(p, 0), left: maxPaths}
		for _, r := range p.Reads {
			if r.Stub == stubs.ArrivingPriority {
				w.a.facts.learn(w.a.facts.read(r), intValue(r.Type, priorities))
			}
		}
		w.walk(p.Root, func(*ir.Node) {
			i := slices.IndexFunc(w.fired, func(n *ir.Node) bool { return p.Sites[n.Index].Effect == stubs.Background })
			if i >= 0 {
				some, at = true, w.fired[i]
			}
		})
		return some, at
	}
	urgent, at := moves(interval{lo: 1, hi: 1<<31 - 1})
	others, _ := moves(interval{lo: -1 << 31, hi: 0})
	if !urgent || others || a.selects(a.groundsOf(conditionsOf(p.Root, at))) {
		return nil
	}
	return []Warning{{p.Errorf(at, "compare the other way round", "only tasks with a priority above 0 go to the background, and a greater priority is more urgent")}}
}

// conditionsOf returns the conditions under which root comes to the statement at.
func conditionsOf(root, at *ir.Node) (conds []condition) {
	within := func(n *ir.Node) bool { return n.Any(func(n *ir.Node) bool { return n == at }) }
	for n := root; n != at; {
		switch {
		case n.Op == ir.OpSeq && within(n.A):
			n = n.A
		case n.Op == ir.OpSeq, n.Op == ir.OpLet:
			n = n.B
		case n.Op == ir.OpIf && within(n.B):
			conds, n = append(conds, condition{n.A, true}), n.B
		case n.Op == ir.OpIf:
			conds, n = append(conds, condition{n.A, false}), n.C
		default:
			return conds
		}
	}
	return conds
}

// lastOf returns the effect that writes a target last on each path, or nil.
func (a *analysis) lastOf(t target) *ir.Node {
	return (&analysis{p: a.p}).lost(a.p.Root)[t]
}

// count returns how many effects of a kind the policy has.
func (a *analysis) count(is func(*ir.Program, *ir.Node) bool) (n int) {
	a.p.Root.Any(func(at *ir.Node) bool {
		if at.Op == ir.OpEffect && is(a.p, at) {
			n++
		}
		return false
	})
	return n
}

// precedence warns of ranks that put tasks with a priority above 0 behind all other tasks, unless
// the rank has a warning.
func precedence(p *ir.Program, all []Warning) []Warning {
	high, at := ranksFor(p, interval{lo: 1, hi: 1<<31 - 1})
	low, _ := ranksFor(p, interval{lo: -1 << 31, hi: 0})
	if at == nil || slices.ContainsFunc(all, func(w Warning) bool { return w.Pos == at.Pos }) || high.lo < low.hi || high.hi <= low.lo {
		return nil
	}
	a := &analysis{p: p}
	shown := func(i interval) string { return a.describe(intValue(at.A.Type, i)) }
	return []Warning{{p.Errorf(at, "the lowest rank starts first, and a task without a rank has the rank 0; write lower ranks for urgent tasks",
		"a task with a priority above 0 gets a rank that is %s, and another task one that is %s: the least urgent task starts first", shown(high), shown(low))}}
}

// ranksFor returns the ranks that the policy gives tasks of some priorities, and a rank effect; nil
// if the ranks are not known, or do not depend on the priority.
func ranksFor(p *ir.Program, priorities interval) (ranks interval, at *ir.Node) {
	reads := false
	w := &pathwise{a: newAnalysis(p, 0), left: maxPaths}
	for _, r := range p.Reads {
		if r.Stub == stubs.ArrivingPriority {
			reads = true
			w.a.facts.learn(w.a.facts.read(r), intValue(r.Type, priorities))
		}
	}
	if !reads || !(Member{Verified: Verified{program: p}}).ranks() {
		return ranks, nil
	}
	first := true
	w.walk(p.Root, func(last *ir.Node) {
		rank := exactly(0)
		for _, n := range w.fired {
			if isRank(p, n) {
				at, rank = n, w.a.values[n.A].ints
			}
		}
		if last.Op != ir.OpVerdict || throws(last) {
			return
		}
		if first {
			ranks = rank
		}
		first, ranks = false, ranks.join(rank)
	})
	if w.left <= 0 {
		return ranks, nil
	}
	if at == nil { // none for these tasks
		at = Member{Verified: Verified{program: p}}.effect(isRank)
	}
	return ranks, at
}

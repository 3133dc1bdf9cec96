package analyzer

import (
	"fmt"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// contraries looks for verdicts whose conditions are most likely the wrong way round: the policy
// refuses, ends or suspends tasks when there is little reason for it, and not when there is much.
type contraries struct {
	a        *analysis
	decision stubs.Decision
	some     map[*ir.Node]bool // statements with the decision on some path
	all      map[*ir.Node]bool // and on each path
	others   map[*ir.Node]bool // statements with another decision than that and continue
	spares   bool              // another path has the decision for tasks with a low priority
	found    *Warning
}

func (a *analysis) contraries(d stubs.Decision) *contraries {
	c := &contraries{a: a, decision: d, some: map[*ir.Node]bool{}, all: map[*ir.Node]bool{}, others: map[*ir.Node]bool{}}
	c.mark(a.p.Root)
	return c
}

// contrary returns a warning about the first verdict the wrong way round.
func (a *analysis) contrary() []Warning {
	for _, d := range []stubs.Decision{stubs.Throw, stubs.Switch} {
		c := a.contraries(d)
		if !c.some[a.p.Root] || c.all[a.p.Root] {
			continue
		}
		c.follow(a.p.Root, nil, func(_ *ir.Node, conds []condition) { c.spares = c.spares || a.groundsOf(conds).right[unurgent] })
		c.follow(a.p.Root, nil, c.judge)
		c.follow(a.p.Root, nil, c.judgeParts)
		if c.found != nil {
			return []Warning{*c.found}
		}
	}
	return nil
}

// mark finds the statements that have the decision.
func (c *contraries) mark(n *ir.Node) {
	switch n.Op {
	case ir.OpVerdict:
		d := stubs.Decision(n.Imm)
		c.some[n] = d == c.decision && c.a.reached[n]
		c.all[n], c.others[n] = c.some[n], d != c.decision && d != stubs.Continue
	case ir.OpSeq, ir.OpLet:
		c.mark(n.B)
		c.some[n], c.all[n], c.others[n] = c.some[n.B], c.all[n.B], c.others[n.B]
	case ir.OpIf:
		c.mark(n.B)
		c.mark(n.C)
		c.some[n], c.all[n] = c.some[n.B] || c.some[n.C], c.all[n.B] && c.all[n.C]
		c.others[n] = c.others[n.B] || c.others[n.C]
	}
}

// follow calls then with the conditions of each verdict that has the decision. A condition whose
// other side may have it, too, counts only if this side always has it; and a condition that chooses
// between two decisions does not count.
func (c *contraries) follow(n *ir.Node, conds []condition, then func(*ir.Node, []condition)) {
	if !c.some[n] {
		return
	}
	switch n.Op {
	case ir.OpVerdict:
		then(n, conds)
	case ir.OpSeq, ir.OpLet:
		c.follow(n.B, conds, then)
	case ir.OpIf:
		for _, side := range []struct {
			this, other *ir.Node
			holds       bool
		}{{n.B, n.C, true}, {n.C, n.B, false}} {
			under := conds
			if !c.others[side.other] && (!c.some[side.other] || c.all[side.this] && !c.all[side.other]) {
				under = append(conds[:len(conds):len(conds)], condition{n.A, side.holds})
			}
			c.follow(side.this, under, then)
		}
	}
}

// soon is the least time left to a deadline that a policy may refuse because it is long.
const soon = time.Second

// judge warns of a verdict on the wrong grounds.
func (c *contraries) judge(n *ir.Node, conds []condition) {
	if c.found != nil {
		return
	}
	g := c.a.groundsOf(conds)
	anyRight := g.right != [allReasons]bool{}
	states := g.about(ir.Read.OfState)
	verb := map[stubs.Decision]string{stubs.Throw: "ends", stubs.Switch: "suspends"}[c.decision]
	if c.a.p.On == stubs.Enqueue {
		verb = "refuses"
	}
	warn := func(format string, args ...any) {
		c.found = &Warning{c.a.p.Errorf(n, "compare the other way round", "%s "+format, append([]any{c.a.text(n), verb}, args...)...)}
	}
	const whileLow = "%s tasks while %v is low, and none while it is high"
	switch {
	case c.decision == stubs.Switch:
		if g.wrong[spent] && g.by[spent].Stub == stubs.TaskSlice && !g.right[spent] && !states {
			warn(whileLow, g.by[spent])
		}
		if g.wrongBy(stubs.TaskPriority) && !c.spares && !g.timely && !c.a.selects(g) {
			warn("%s urgent tasks, and no others: a greater priority is more urgent")
		}
	case g.wrong[late] && !anyRight && c.before(n, soon):
		warn("%s tasks that have much time, and none that have little")
	case g.wrong[load] && !g.right[load] && g.right[spent] && c.a.usual(g):
		if r := g.by[load]; c.unmeasured(n, r, spent) {
			c.found = &Warning{c.a.p.Errorf(n, fmt.Sprintf("write %v > duration(\"0s\") and ...", r),
				"%v is 0s until a task has been measured, and %s then %s each task", r, c.a.text(n), verb)}
		}
	case c.a.p.On == stubs.Enqueue && g.wrong[load] && g.right[load] && c.a.usual(g) && c.firstOfName(n, g.by[load]):
		r := g.by[load]
		c.found = &Warning{c.a.p.Errorf(n, fmt.Sprintf("write %v > duration(\"0s\") and ...", r),
			"%v is 0s until a task of the name has been measured, and %s refuses each one while other tasks wait",
			r, c.a.text(n))}
	case g.wrong[load] && !g.right[load] && !g.draws:
		warn(whileLow, g.by[load])
	case g.wrong[spent] && !anyRight && !states:
		warn(whileLow, g.by[spent])
	case g.wrong[unurgent] && !c.spares && !g.timely && (g.right[load] || !c.a.selects(g)):
		warn("%s urgent tasks, and no others: a greater priority is more urgent")
	case g.wrong[abandoned] && !anyRight && !states && !c.a.selects(g):
		warn("%s tasks that have a caller, and no others")
	}
}

// usual reports whether all loads on the wrong side are measured times, such as the usual running
// time of a class: a task is compared with what others take.
func (a *analysis) usual(g grounds) bool {
	return !slices.ContainsFunc(g.wrongs, func(id stubs.ID) bool {
		why, _ := reasonBy(id)
		return why == load && !slices.Contains([]stubs.ID{stubs.ClassRunningMean, stubs.ClassWaitedMean, stubs.ClassWait, stubs.ClassService,
			stubs.QueueWait, stubs.LoopService}, id)
	})
}

// firstOfName reports whether a verdict is reached on little load while a figure of the task's
// class is 0.
func (c *contraries) firstOfName(n *ir.Node, of ir.Read) bool {
	return stubs.ClassTasks <= of.Stub && of.Stub <= stubs.ClassService && c.unmeasured(n, of, load)
}

// unmeasured reports whether a verdict is reached while a measured time is 0, although there is
// next to no reason: the task has taken little time, or there is little load.
func (c *contraries) unmeasured(n *ir.Node, of ir.Read, ground reason) bool {
	a := newAnalysis(c.a.p, 0)
	a.facts.learn(a.facts.read(of), intValue(of.Type, exactly(0)))
	for _, r := range a.p.Reads {
		why, s := reasonBy(r.Stub)
		switch {
		case why != ground || s != rising || r.Stub == of.Stub:
		case r.Type == stubs.Duration:
			a.facts.learn(a.facts.read(r), intValue(r.Type, interval{lo: 1, hi: int64(time.Millisecond)}))
		case r.Type == stubs.Int && ground == load:
			a.facts.learn(a.facts.read(r), intValue(r.Type, interval{lo: 1, hi: 2}))
		}
	}
	a.statement(a.p.Root)
	return a.reached[n]
}

// selects reports whether the policy is about only some tasks, by their names, kinds or labels.
func (a *analysis) selects(g grounds) bool {
	names := func(r ir.Read) bool {
		return r.Type == stubs.Name || r.Pattern != "" || r.Taken != ir.TakenWhole || r.Type == stubs.NameList
	}
	return len(a.declared.Tasks)+len(a.declared.Kinds) > 0 || g.about(names)
}

// before reports whether a verdict is reached although some time is left to the deadline, and less
// than d.
func (c *contraries) before(n *ir.Node, d time.Duration) bool {
	a := newAnalysis(c.a.p, 0)
	for _, r := range a.p.Reads {
		if why, _ := reasonBy(r.Stub); why == late && r.Type == stubs.Duration {
			a.facts.learn(a.facts.read(r), intValue(r.Type, interval{lo: 1, hi: int64(d) - 1}))
		}
	}
	a.statement(a.p.Root)
	return a.reached[n]
}

func reaches(reached map[*ir.Node]bool, d stubs.Decision) bool {
	for n, yes := range reached {
		if yes && n.Op == ir.OpVerdict && stubs.Decision(n.Imm) == d {
			return true
		}
	}
	return false
}

package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// halfway warns of a throw into tasks whose time so far is more than the time left, as in
// task.elapsed > task.deadline: its author takes the deadline for the time that a task has in all.
// An author who means a share of that time multiplies one of the two.
func (a *analysis) halfway() (all []Warning) {
	c := a.contraries(stubs.Throw)
	c.follow(a.p.Root, nil, func(n *ir.Node, conds []condition) {
		for _, part := range a.parts(conds) {
			for _, cond := range part {
				if at, spent := a.beyondLeft(cond); at != nil && len(all) == 0 {
					all = []Warning{{a.p.Errorf(at, `write task.deadline < duration("0s") for a task that is late`,
						"%s compares with the time left: task.deadline falls while %s grows, and %s meets tasks that still have time", a.text(at), spent, a.text(n))}}
				}
			}
		}
	})
	return all
}

// beyondLeft returns a comparison that holds while a time of the task so far is more than the time
// left to its deadline, and the first time.
func (a *analysis) beyondLeft(c condition) (at *ir.Node, spent string) {
	n := a.named(c.Node)
	if n == nil || !isOrdering(n.Op) {
		return nil, ""
	}
	x, y := a.named(n.A), a.named(n.B)
	if x == nil || y == nil || x.Op != ir.OpRead || y.Op != ir.OpRead {
		return nil, ""
	}
	if (n.Op == ir.OpGt || n.Op == ir.OpGe) != c.holds {
		x, y = y, x
	}
	r := a.reads[x.Index]
	if r.Stub != stubs.TaskElapsed && r.Stub != stubs.TaskRunning || a.reads[y.Index].Stub != stubs.TaskDeadline {
		return nil, ""
	}
	return n, r.String()
}

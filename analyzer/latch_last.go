package analyzer

import (
	"math"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// idleStubs are the stubs about the load that are 0 when the last task ends.
var idleStubs = []stubs.ID{
	stubs.QueueLength, stubs.QueueSafe, stubs.QueueSuspended, stubs.QueueOldest, stubs.QueueCost, stubs.TenantQueued, stubs.ClassQueued,
}

// sure reports whether a policy brings the state back at the end of the last task, or when it
// starts, whatever that task is.
func (l latch) sure(o Member) bool {
	if o.Verified.program.On&(stubs.Start|stubs.Exit) == 0 || len(l.writesIn(o)) == 0 {
		return false
	}
	return l.sureWith(o, 0) || l.sureWith(o, 1)
}

// sureWith is sure if the last task counts as so many in the taken slots.
func (l latch) sureWith(o Member, busy int64) bool {
	w := &pathwise{a: l.with(o, l.stuck), left: maxPaths}
	for _, r := range w.a.p.Reads {
		v := exactly(0)
		switch r.Stub {
		case stubs.TenantBusy, stubs.ClassBusy, stubs.LoopBusy:
			v = exactly(busy)
		case stubs.ClassTasks, stubs.TenantTasks, stubs.RuntimeTasks:
			v = exactly(1)
		default:
			if !slices.Contains(idleStubs, r.Stub) {
				continue
			}
		}
		w.a.facts.learn(w.a.facts.read(r), intValue(r.Type, v))
	}
	sure := true
	w.walk(w.a.p.Root, func(*ir.Node) {
		sure = sure && slices.ContainsFunc(w.fired, func(n *ir.Node) bool { return slices.Contains(l.writesIn(o), n) && l.back(o, w.a, n) })
	})
	return sure && w.left > 0
}

// back reports whether an effect takes the state a step away from where it is stuck, or to a value
// with which the policy lets tasks in.
func (l latch) back(o Member, a *analysis, n *ir.Node) bool {
	s := a.p.Sites[n.Index]
	if by := countsBy(a.p, n); by != 0 {
		return (by < 0) == (l.says == "high")
	}
	v := a.values[n.A]
	if s.Type != l.stuck.of || s.Effect == stubs.Add || v.of != s.Type {
		return false
	}
	after := written(s.Effect, l.stuck, v)
	switch {
	case after.of == stubs.Bool:
		return after.truth.constant() && !after.same(l.stuck)
	case after.of == stubs.Float:
		f := after.floats
		return l.letsIn(floatValue(floats{lo: f.lo, hi: f.lo})) && l.letsIn(floatValue(floats{lo: f.hi, hi: f.hi})) && !math.IsInf(f.hi-f.lo, 0)
	}
	return l.letsIn(intValue(after.of, exactly(after.ints.lo))) && l.letsIn(intValue(after.of, exactly(after.ints.hi)))
}

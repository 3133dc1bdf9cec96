package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// oneInterval warns of a policy that gives itself another interval on some of its ticks, and never
// another one after it. A policy that changes over once, after some time or by a state, may mean
// it, and so may one that events wake.
func (a *analysis) oneInterval() {
	var at *ir.Node
	same := true
	isInterval := func(p *ir.Program, n *ir.Node) bool { return p.Sites[n.Index].Effect == stubs.Interval }
	a.p.Root.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpEffect && isInterval(a.p, n) {
			same = same && n.A.Op == ir.OpConst && (at == nil || at.A.Imm == n.A.Imm)
			at = n
		}
		return false
	})
	if at == nil || !same || a.p.On != stubs.Tick || !a.reached[at] || a.lastOf(target{effect: stubs.Interval}) != nil || int64(at.A.Imm) == int64(a.interval) {
		return
	}
	for _, r := range a.p.Reads {
		if r.OfState() || r.Stub == stubs.RuntimeUptime {
			return
		}
	}
	a.warn(at, "let the policy set the interval in all its cases", "%s is all that the policy does with its interval: nothing brings it back", a.text(at))
}

// ofItself warns of a policy that does nothing but end itself or change its interval: its author
// most likely means the task.
func (a *analysis) ofItself() {
	var at *ir.Node
	other := a.p.Root.Any(func(n *ir.Node) bool {
		switch {
		case n.Op == ir.OpTake, n.Op == ir.OpVerdict && stubs.Decision(n.Imm) != stubs.Continue:
			return true
		case n.Op != ir.OpEffect:
			return false
		}
		at = n
		effect := a.p.Sites[n.Index].Effect
		return effect != stubs.Cancel && effect != stubs.Interval
	})
	if at != nil && !other && a.reached[at] {
		a.warn(at, "write throw(...) to end the task, or switch() to suspend it", "%s is about the policy, and the policy does nothing else", a.text(at))
	}
}

package analyzer

import (
	"math/bits"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// cumulative are the stubs that grow for a task's life.
var cumulative = []stubs.ID{stubs.TaskRunning, stubs.TaskElapsed, stubs.TaskWaited, stubs.TaskBlocked}

// sums warns of an add() of a time that grows for a task's life, on events that a task has more
// than once: each adds the time before it again.
func (a *analysis) sums() {
	again := a.p.On & (stubs.Tick | stubs.Block | stubs.Unblock | stubs.Custom)
	if again == 0 && bits.OnesCount16(uint16(a.p.On&(stubs.Start|stubs.Exit))) < 2 {
		return
	}
	a.p.Root.Any(func(n *ir.Node) bool {
		if n.Op != ir.OpEffect || a.p.Sites[n.Index].Effect != stubs.Add || !a.reached[n] {
			return false
		}
		x := a.named(n.A)
		for x != nil && (x.Op == ir.OpFloat || x.Op == ir.OpRetype || x.Op == ir.OpNeg) {
			x = a.named(x.A)
		}
		if x == nil || x.Op != ir.OpRead || !slices.Contains(cumulative, a.reads[x.Index].Stub) {
			return false
		}
		a.warn(n, "add it on exit alone", "%s adds all the time of the task on each %v, what was added before included", a.text(n), a.p.On)
		return true
	})
}

package cocoon

import "slices"

// Gates. Many enqueue policies concern one kind of request: `arriving.name == "GET /report" and …`.
// The analyzer finds the fixed values of a task, its name, kind, priority and labels, without which
// such a policy can only continue (analyzer.Way). The runtime compares them before it evaluates the
// policy. So the policy costs other tasks a comparison, and no task with a goroutine of its own
// needs a larger stack for the evaluator: growing the stack of 2 KB took ten times as long as the
// evaluation.

// gate finds the ways in which an enqueue policy can act. Called with regMu held.
func (b *bound) gate() {
	if len(b.chances) > 0 || b.states.Some {
		return // each evaluation draws a number, or touches a state
	}
	b.gates = b.waysOn(b.version.ways)
	b.gated = !slices.ContainsFunc(b.gates, func(w way) bool { return len(w.fixed) == 0 })
}

// mayAct reports whether the policy may do anything but continue for the tasks in view, as far as
// their fixed values decide. Called under the loop's lock.
func (b *bound) mayAct(v *view) bool {
	if !b.gated {
		return true
	}
	for i := range b.gates {
		if v.fits(b.loop, &b.gates[i]) {
			return true
		}
	}
	return false
}

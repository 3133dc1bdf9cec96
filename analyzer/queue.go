package analyzer

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// queued are the stubs with the value 0 while no task waits or is suspended.
var queued = []stubs.ID{stubs.QueueLength, stubs.QueueSafe, stubs.QueueSuspended, stubs.QueueOldest, stubs.QueueCost, stubs.ClassQueued}

// NeedsQueue reports whether the policy can only continue while no task of the loop waits or is
// suspended, like a policy that sheds load. The runtime then need not evaluate it. NeedsQueue
// follows the program once more, with the stubs of the queue set to 0. It is false for the zero
// Verified.
func (v Verified) NeedsQueue() bool {
	p := v.program
	if p == nil || !slices.ContainsFunc(p.Reads, func(r ir.Read) bool { return slices.Contains(queued, r.Stub) }) {
		return false
	}
	return onlyContinues(p, func(f *facts) {
		for _, r := range p.Reads {
			if slices.Contains(queued, r.Stub) {
				f.learn(f.read(r), constant(r.Type, 0))
			}
		}
	})
}

// NeedsDeadline reports whether the policy does nothing for tasks that have no deadline, like one
// that stops tasks after their deadlines, or orders all tasks by deadlines and by nothing else. It
// is false for the zero Verified.
func (v Verified) NeedsDeadline() bool {
	p := v.program
	dated := func(r ir.Read) bool { return r.Stub == stubs.TaskDeadline || r.Stub == stubs.ArrivingDeadline }
	if p == nil || !slices.ContainsFunc(p.Reads, dated) {
		return false
	}
	a := newAnalysis(p, 0)
	for _, r := range p.Reads {
		switch {
		case dated(r):
			a.facts.learn(a.facts.read(r), intValue(r.Type, interval{lo: later, hi: 2 * later}))
		case r.Type == stubs.Duration && r.Stub != stubs.State: // no measured time comes near to that
			a.facts.learn(a.facts.read(r), intValue(r.Type, interval{lo: 0, hi: int64(distant)}))
		}
	}
	a.statement(p.Root)
	for n, reached := range a.reached {
		ordered := n.Op == ir.OpEffect && isRank(p, n) && (a.slope(n.A, source{stub: stubs.ArrivingDeadline}) != flat || a.slope(n.A, source{stub: stubs.TaskDeadline}) != flat)
		if reached && !ordered && (n.Op != ir.OpVerdict || stubs.Decision(n.Imm) != stubs.Continue) {
			return false
		}
	}
	return true
}

// onlyContinues reports whether a verified program can only continue under the facts that assume
// adds.
func onlyContinues(p *ir.Program, assume func(*facts)) bool {
	a := newAnalysis(p, 0)
	assume(a.facts)
	a.statement(p.Root)
	for n, reached := range a.reached {
		if reached && (n.Op != ir.OpVerdict || stubs.Decision(n.Imm) != stubs.Continue) {
			return false
		}
	}
	return true
}

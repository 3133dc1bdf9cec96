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

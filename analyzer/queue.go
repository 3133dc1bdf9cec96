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
	return v.idleWith([]stubs.ID{stubs.TaskDeadline, stubs.ArrivingDeadline}, interval{lo: later, hi: 2 * later}, true)
}

// NeedsPriority reports whether the policy does nothing for tasks with a priority from least to
// most, like one that refuses tasks with a priority below 0, or orders all tasks by priorities that
// are equal. It is false for the zero Verified.
func (v Verified) NeedsPriority(least, most int32) bool {
	return v.idleWith([]stubs.ID{stubs.TaskPriority, stubs.ArrivingPriority}, interval{lo: int64(least), hi: int64(most)}, least == most)
}

// idleWith reports whether the policy reads one of the stubs, and does nothing while they have such
// values. A rank that follows one of them is nothing if they are equal.
func (v Verified) idleWith(ids []stubs.ID, values interval, equal bool) bool {
	p := v.program
	about := func(r ir.Read) bool { return slices.Contains(ids, r.Stub) }
	if p == nil || !slices.ContainsFunc(p.Reads, about) {
		return false
	}
	a := newAnalysis(p, 0)
	for _, r := range p.Reads {
		switch {
		case about(r):
			a.facts.learn(a.facts.read(r), intValue(r.Type, values))
		case r.Type == stubs.Duration && r.Stub != stubs.State: // no measured time comes near to that
			a.facts.learn(a.facts.read(r), intValue(r.Type, interval{lo: 0, hi: int64(distant)}))
		}
	}
	a.statement(p.Root)
	follows := func(n *ir.Node) bool {
		return slices.ContainsFunc(ids, func(id stubs.ID) bool { return a.slope(n, source{stub: id}) != flat })
	}
	for n, reached := range a.reached {
		ordered := equal && n.Op == ir.OpEffect && isRank(p, n) && follows(n.A)
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

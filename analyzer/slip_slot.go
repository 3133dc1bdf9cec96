package analyzer

import (
	"regexp"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// lastSlot warns of a throw on enqueue while all slots are taken. A task that finds a free slot
// counts as one that has taken it, so the policy refuses the task that would use the last slot, and
// that slot stays free. Kept free for other tasks, by a match or another condition, it is meant.
func (a *analysis) lastSlot() (all []Warning) {
	if a.p.On != stubs.Enqueue || len(a.declared.Tasks)+len(a.declared.Kinds) > 0 {
		return nil
	}
	c := a.contraries(stubs.Throw)
	c.follow(a.p.Root, nil, func(n *ir.Node, conds []condition) {
		if len(all) > 0 || len(conds) != 1 || !conds[0].holds {
			return
		}
		full := a.named(conds[0].Node)
		if full != nil && a.allBusy(full) {
			all = []Warning{{a.p.Errorf(full, "compare queue.length > 0, which holds for a task that waits",
				"%s also holds for the task that has found the last free slot: %s refuses it, and that slot stays free", a.text(full), a.text(n))}}
		}
	})
	return all
}

// allBusy reports whether n is loop.busy >= loop.slots, or ==, either way round.
func (a *analysis) allBusy(n *ir.Node) bool {
	var busy, slots *ir.Node
	switch n.Op {
	case ir.OpGe, ir.OpEq:
		busy, slots = n.A, n.B
	case ir.OpLe:
		busy, slots = n.B, n.A
	default:
		return false
	}
	return a.isRead(busy, stubs.LoopBusy) && a.isRead(slots, stubs.LoopSlots)
}

// isRead reports whether n is a read of the stub.
func (a *analysis) isRead(n *ir.Node, id stubs.ID) bool {
	n = a.named(n)
	return n != nil && n.Op == ir.OpRead && a.reads[n.Index].Stub == id
}

// noTokens finds reasons by which a bucket has no tokens left.
var noTokens = regexp.MustCompile(`(?i)\b(used up|rate limit|burst|tokens?|quota|(is|are) (spent|exhausted|empty))\b`)

// spentTokens warns of a throw that needs a successful take, if its reason says that no tokens are
// left. Without such a reason the bucket may bound how many tasks are refused.
func (a *analysis) spentTokens() (all []Warning) {
	c := a.contraries(stubs.Throw)
	c.follow(a.p.Root, nil, func(n *ir.Node, conds []condition) {
		reason := a.p.Reasons[n.Index]
		if !noTokens.MatchString(reason) {
			return
		}
		for _, cond := range conds {
			if take := a.needsTake(cond.Node, cond.holds); take != nil && len(all) == 0 && a.named(cond.Node) != take {
				all = []Warning{{a.p.Errorf(take, "write not take(...)", "%s is true when there are tokens, and %q speaks of none", a.text(take), reason)}}
			}
		}
	})
	return all
}

// needsTake returns a take without which a condition does not have the value.
func (a *analysis) needsTake(n *ir.Node, value bool) *ir.Node {
	switch n = a.named(n); {
	case n == nil:
	case n.Op == ir.OpNot:
		return a.needsTake(n.A, !value)
	case n.Op == ir.OpAnd && value, n.Op == ir.OpOr && !value:
		if take := a.needsTake(n.A, value); take != nil {
			return take
		}
		return a.needsTake(n.B, value)
	case n.Op == ir.OpTake && value:
		return n
	}
	return nil
}

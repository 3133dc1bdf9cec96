package analyzer

import "github.com/cocoon-go/cocoon/internal/ir"

// checkCost returns the program's bound, or an error when it exceeds the limit. Loops are bounded
// by their sources, so every program has a bound.
func checkCost(p *ir.Program, limits Limits) (int, error) {
	limit := limits.Cost
	if limit <= 0 {
		limit = DefaultCost
	}
	bound := ir.Bound(p.Root)
	if bound <= limit {
		return bound, nil
	}
	n, hint := costliest(p.Root), "split the policy, or compare less"
	if quantifier(n.Op) {
		hint = "make the range shorter, or the predicate simpler"
	}
	return 0, p.Errorf(n, hint, "the policy may take %d steps, and %d are allowed; %d of them are here", bound, limit, ir.Bound(n))
}

// costliest descends to the part with most of the cost, while one operand has most of a node's
// cost. It does not enter a loop, because its length causes the cost, not its body. It stops at a
// maximum depth, because each step counts the whole remaining tree.
func costliest(n *ir.Node) *ir.Node {
	bound := ir.Bound(n)
	for range 100 {
		var worst *ir.Node
		most := 0
		for _, operand := range []*ir.Node{n.A, n.B, n.C} {
			if cost := ir.Bound(operand); cost > most {
				worst, most = operand, cost
			}
		}
		if quantifier(n.Op) || most < bound/4*3 || worst == nil {
			break
		}
		n, bound = worst, most
	}
	return n
}

func quantifier(op ir.Op) bool {
	return op == ir.OpAny || op == ir.OpAll || op == ir.OpNone || op == ir.OpCount
}

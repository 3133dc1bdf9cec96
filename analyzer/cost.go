package analyzer

import "github.com/cocoon-go/cocoon/policy"

// checkCost returns the program's bound, or an error when it exceeds the limit. Loops are bounded
// by their sources, so every program has a bound.
func checkCost(p *policy.Program, limits Limits) (int, error) {
	limit := limits.Cost
	if limit <= 0 {
		limit = DefaultCost
	}
	bound := policy.Bound(p.Root)
	if bound <= limit {
		return bound, nil
	}
	n, hint := costliest(p.Root), "split the policy, or compare less"
	if quantifier(n.Op) {
		hint = "make the range shorter, or the predicate simpler"
	}
	return 0, p.Errorf(n, hint, "the policy may take %d steps, and %d are allowed; %d of them are here", bound, limit, policy.Bound(n))
}

// costliest descends to the part that is to blame: as long as one operand makes up most of a node's
// cost, but not into a loop, whose length is to blame and not its body. It stops at some depth,
// because every step counts the whole rest.
func costliest(n *policy.Node) *policy.Node {
	bound := policy.Bound(n)
	for range 100 {
		var worst *policy.Node
		most := 0
		for _, operand := range []*policy.Node{n.A, n.B, n.C} {
			if cost := policy.Bound(operand); cost > most {
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

func quantifier(op policy.Op) bool {
	return op == policy.OpAny || op == policy.OpAll || op == policy.OpNone || op == policy.OpCount
}

package analyzer

import (
	"fmt"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// dropped warns, once a policy, of a quotient of whole constants that has lost its fraction:
// loop.utilization > 9 / 10 is loop.utilization > 0.
func (a *analysis) dropped() {
	if len(a.p.Dropped) == 0 {
		return
	}
	n := a.p.Dropped[0]
	a.warn(n, "write it with a point, or multiply before you divide", "%s is %d: int by int drops the fraction", a.text(n), int64(n.Imm))
}

// quotient warns of a whole quotient whose fraction is missed afterwards: in float(a / b), and in
// a / b * c. A constant divisor may be meant to round.
func (r *review) quotient(n *policy.Node) {
	for _, q := range []*policy.Node{n.A, n.B} {
		whole := q != nil && q.Op == policy.OpDiv && q.Type == stubs.Int && q.B.Op != policy.OpConst
		switch {
		case !whole:
		case n.Op == policy.OpFloat:
			r.warn(q, fmt.Sprintf("write float(%s) / float(%s)", r.text(q.A), r.text(q.B)),
				"%s drops the fraction before float() sees it", r.text(q))
		case n.Op == policy.OpMul && n.Type == stubs.Int:
			r.warn(q, "multiply before you divide", "%s drops the fraction before it is multiplied", r.text(q))
		}
	}
}

package analyzer

import (
	"fmt"
	"math"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
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

// quotient warns of a whole quotient where the policy then needs its fraction: in float(a / b), and
// in a / b * c. A constant divisor may be meant to round.
func (r *review) quotient(n *ir.Node) {
	for _, q := range []*ir.Node{r.a.named(n.A), r.a.named(n.B)} {
		whole := q != nil && q.Op == ir.OpDiv && q.Type == stubs.Int && q.B.Op != ir.OpConst
		switch {
		case !whole:
		case n.Op == ir.OpFloat:
			r.a.warn(q, fmt.Sprintf("write float(%s) / float(%s)", r.a.text(q.A), r.a.text(q.B)),
				"%s drops the fraction before float() sees it", r.a.text(q))
		case n.Op == ir.OpMul && n.Type == stubs.Int:
			r.a.warn(q, "multiply before you divide", "%s drops the fraction before it is multiplied", r.a.text(q))
		}
	}
}

// wholeChance warns of chance(x) if x is a whole number: then it is true or false for certain. It
// also warns of a percentage, which is above 1 for most values.
func (a *analysis) wholeChance(n, share *ir.Node) {
	if v := a.values[share].floats; v.lo >= 0 && v.hi == 100 {
		a.warn(n, "write a share between 0 and 1, without the factor 100", "%s is not a chance: %s is a percentage of 0 to 100, and chance wants a share between 0 and 1", a.text(n), a.text(share))
		return
	}
	if a.whole(share) && !a.values[n].truth.constant() {
		a.warn(n, "write a share between 0 and 1, as in float(queue.length) / 100.0", "%s is not a chance: %s is a whole number, and chance wants a share between 0 and 1", a.text(n), a.text(share))
	}
}

// whole reports whether a float is a whole number, and not a constant.
func (a *analysis) whole(n *ir.Node) bool {
	if n = a.named(n); n == nil {
		return false
	}
	constant := func(n *ir.Node) bool { return n.Op == ir.OpConst && !isFraction(n) }
	switch n.Op {
	case ir.OpFloat:
		return n.A.Op != ir.OpConst
	case ir.OpMin, ir.OpMax: // with a bound, as in min(float(queue.length), 1.0)
		return constant(n.A) && a.whole(n.B) || constant(n.B) && a.whole(n.A)
	}
	return false
}

// isFraction reports whether a constant float is not a whole number.
func isFraction(n *ir.Node) bool {
	f := math.Float64frombits(n.Imm)
	return n.Op == ir.OpConst && n.Type == stubs.Float && f != math.Trunc(f)
}

// fraction warns of a whole quotient by a constant, compared with a fraction.
func (a *analysis) fraction(n, quotient, with *ir.Node) {
	if q := a.named(quotient); q != nil && q.Op == ir.OpDiv && q.Type == stubs.Int && q.B.Op == ir.OpConst {
		a.warn(q, fmt.Sprintf("write float(%s) / %s.0", a.text(q.A), a.text(q.B)), "%s drops the fraction, and is compared with %s", a.text(q), a.text(with))
	}
}

// vacuous warns of a division or a multiplication by 1, most often a weight or a window that was
// forgotten, and of a sum with 0. A division by a unit takes the unit off. A factor in a sum may be
// a weight, and one of loop.slots a number of tasks for each slot.
func (a *analysis) vacuous(n *ir.Node, weights map[*ir.Node]bool) {
	does, by := "", n.B
	switch n.Op {
	case ir.OpDiv:
		does = "divides by 1"
	case ir.OpMul:
		if does = "multiplies by 1"; isNumber(n.A, 1) {
			by = n.A
		}
	case ir.OpAdd:
		if does = "adds 0"; isNumber(n.A, 0) {
			by = n.A
		}
	case ir.OpSub:
		does = "subtracts 0"
	default:
		return
	}
	of := n.A
	if by == n.A {
		of = n.B
	}
	neutral := 1.0
	if n.Op == ir.OpAdd || n.Op == ir.OpSub {
		neutral = 0
	}
	unit := of.Op == ir.OpRetype || n.Op == ir.OpDiv && of.Op == ir.OpFloat && of.A.Type != stubs.Int && !strings.HasPrefix(a.text(by), "1")
	slots := n.Op == ir.OpMul && of.Op == ir.OpRead && a.reads[of.Index].Stub == stubs.LoopSlots
	if isNumber(by, neutral) && n.Type == of.Type && of.Op != ir.OpConst && !unit && !slots && !weights[n] {
		a.warn(n, "remove the number, or correct it", "%s %s, which changes nothing", a.text(n), does)
	}
}

// isNumber reports whether an operation is the constant f.
func isNumber(n *ir.Node, f float64) bool {
	switch {
	case n.Op != ir.OpConst:
		return false
	case n.Type == stubs.Float:
		return math.Float64frombits(n.Imm) == f
	}
	return n.Type.Integral() && float64(int64(n.Imm)) == f
}

// weightsIn returns the products and quotients that are operands of a sum.
func weightsIn(root *ir.Node) map[*ir.Node]bool {
	all := map[*ir.Node]bool{}
	root.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpAdd || n.Op == ir.OpSub {
			for _, operand := range []*ir.Node{n.A, n.B} {
				all[operand] = operand.Op == ir.OpMul
			}
		}
		return false
	})
	return all
}

package analyzer

import (
	"fmt"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// condition quotes a condition. The comparison with an element of a list has the position of the
// element.
func (r *review) condition(n *ir.Node) string {
	if isElement(n) {
		return r.a.text(n.A) + " == " + r.a.text(n.B)
	}
	return r.a.text(n)
}

// isElement reports whether n is the comparison with an element of x in [...].
func isElement(n *ir.Node) bool {
	return n.Op == ir.OpEq && n.Pos == n.B.Pos && n.End == n.B.End
}

// because returns the values of the variable operand, in words. chance() and take() compare a
// number that has no text of its own, so there is nothing to say about it.
func (r *review) because(n *ir.Node) string {
	if n.Op == ir.OpNot || n.B == nil || n.A == nil {
		return ""
	}
	if n.A.Type != stubs.Bool && r.a.text(n.A) == r.a.text(n.B) {
		return ": both sides are the same"
	}
	if text, _ := r.a.relation(n); text != "" && r.a.lenient {
		return ": " + text
	}
	where := "here"
	if isElement(n) && !strings.HasSuffix(strings.TrimSpace(r.a.p.Text[:n.Pos]), "[") {
		where = "after the elements before it"
	}
	values := r.a.values
	if always := r.catalogued(n); always != nil {
		values, where = always, "here"
	}
	for _, operand := range []*ir.Node{n.A, n.B} {
		if operand.Op != ir.OpConst && operand.Type != stubs.Bool && r.a.text(operand) != r.a.text(n) {
			return fmt.Sprintf(": %s is %s %s", r.a.text(operand), r.a.describe(values[operand]), where)
		}
	}
	return ""
}

// catalogued returns the values of the operands of n according to the catalogue, if they decide the
// comparison n without the conditions around it; otherwise nil.
func (r *review) catalogued(n *ir.Node) map[*ir.Node]value {
	values := map[*ir.Node]value{}
	for _, operand := range []*ir.Node{n.A, n.B} {
		switch operand.Op {
		case ir.OpRead:
			values[operand] = readValue(r.a.reads[operand.Index])
		case ir.OpConst:
			values[operand] = constant(operand.Type, operand.Imm)
		default:
			return nil
		}
	}
	if v, _ := apply(n.Op, n.Type, values[n.A], values[n.B]); n.Type != stubs.Bool || !v.truth.constant() {
		return nil
	}
	return values
}

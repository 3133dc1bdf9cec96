package lang

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

var comparisons = map[string]ir.Op{"==": ir.OpEq, "!=": ir.OpNe, "<": ir.OpLt, "<=": ir.OpLe, ">": ir.OpGt, ">=": ir.OpGe}

func (l *lowerer) unary(n *ast.UnaryNode) value {
	if n.Operator == "not" || n.Operator == "!" {
		return value{node: l.folded(n, ir.OpNot, stubs.Bool, l.boolean(n.Node, "what "+n.Operator+" negates"))}
	}
	if i, ok := n.Node.(*ast.IntegerNode); ok && l.least[l.at[i.Location().From]] {
		return value{node: l.constant(n, stubs.Int, 1<<63)}
	}
	v := l.value(n.Node)
	if !v.node.Type.Numeric() {
		l.refuse(n, "", "a sign needs a number, and %s is %s", l.excerpt(n.Node), describe(v))
	}
	if n.Operator == "+" {
		return v
	}
	return value{node: l.folded(n, ir.OpNeg, v.node.Type, v.node)}
}

func (l *lowerer) binary(n *ast.BinaryNode) value {
	switch n.Operator {
	case "and", "&&":
		return value{node: l.node(n, ir.OpAnd, stubs.Bool, l.boolean(n.Left, "what and joins"), l.boolean(n.Right, "what and joins"))}
	case "or", "||":
		return value{node: l.node(n, ir.OpOr, stubs.Bool, l.boolean(n.Left, "what or joins"), l.boolean(n.Right, "what or joins"))}
	case "in":
		return l.in(n)
	case "..":
		l.refuse(n, "write a range only after in, or as the first argument of any, all, none and count", "a range is not a value")
	}
	l.hyphen(n)
	a, b := l.value(n.Left), l.value(n.Right)
	a, b = l.adapt(n.Left, a, b), l.adapt(n.Right, b, a)
	if op, ok := comparisons[n.Operator]; ok {
		return l.comparison(n, op, a, b)
	}
	switch n.Operator {
	case "+":
		return l.sum(n, ir.OpAdd, a, b)
	case "-":
		return l.sum(n, ir.OpSub, a, b)
	case "*":
		return l.product(n, a, b)
	case "/":
		return l.quotient(n, a, b)
	case "%":
		return l.remainder(n, a, b)
	}
	l.refuse(n, refused[n.Operator], "there is no operator %s", n.Operator)
	return value{}
}

// adapt converts an integer constant to Float when the other operand is a Float. There are no other
// implicit conversions.
func (l *lowerer) adapt(n ast.Node, v, other value) value {
	if other.node.Type != stubs.Float || v.node.Type != stubs.Int || !v.constant() {
		return v
	}
	i := int64(v.node.Imm)
	if float64(i) >= 1<<63 || int64(float64(i)) != i {
		l.refuse(n, "write it with a point", "%s is not an exact floating-point number", l.excerpt(n))
	}
	v.node = l.folded(n, ir.OpFloat, stubs.Float, v.node)
	return v
}

// mismatch refuses operands of incompatible types.
func (l *lowerer) mismatch(n, an ast.Node, a value, bn ast.Node, b value) {
	hint := unitHint(a, l.excerpt(an), b.node.Type)
	if h := unitHint(b, l.excerpt(bn), a.node.Type); h != "" {
		hint = h
	}
	if number := cmp.Or(l.asNumber(an, a, b.node.Type), l.asNumber(bn, b, a.node.Type)); number != "" {
		bin, ok := n.(*ast.BinaryNode)
		if hint == "" || !ok || bin.Operator != "==" && bin.Operator != "!=" {
			hint = "write " + number
		} else {
			hint += "; or " + number
		}
	}
	for _, pair := range [][2]value{{a, b}, {b, a}} {
		if of, unit := pair[0], pair[1]; hint == "" && l.ofState(of) {
			hint = declareUnit(of.node.Type, unit.node.Type)
		}
	}
	l.refuse(n, hint, "%s is %s and %s is %s", l.excerpt(an), describe(a), l.excerpt(bn), describe(b))
}

// asNumber suggests how to read the label v as a value of type t. It is empty if v is not a label.
func (l *lowerer) asNumber(n ast.Node, v value, t stubs.Type) string {
	key, ok := l.nameRead(v)
	if !ok || key.id != stubs.TaskLabels && key.id != stubs.ArrivingLabels {
		return ""
	}
	switch t {
	case stubs.Int:
		return fmt.Sprintf("int(%s)", l.excerpt(n))
	case stubs.Float:
		return fmt.Sprintf("float(%s)", l.excerpt(n))
	case stubs.Duration:
		return fmt.Sprintf(`int(%s) * duration("1ms")`, l.excerpt(n))
	}
	return ""
}

// ofState reports whether v is the value of a state.
func (l *lowerer) ofState(v value) bool {
	return v.node.Op == ir.OpRead && slices.ContainsFunc(l.prog.Reads, func(r ir.Read) bool {
		return r.Offset == v.node.Index && r.Stub == stubs.State
	})
}

// declareUnit suggests how to declare a state if its first value lacks the unit of its uses. It
// returns "" if the mistake is another one.
func declareUnit(state, used stubs.Type) string {
	switch {
	case state != stubs.Int:
	case used == stubs.Duration:
		return "declare the state as a duration, like 0s"
	case used == stubs.Bytes:
		return "declare the state as a size in bytes, like 0B"
	}
	return ""
}

func (l *lowerer) comparison(n *ast.BinaryNode, op ir.Op, a, b value) value {
	t := a.node.Type
	switch {
	case t != b.node.Type:
		l.mismatch(n, n.Left, a, n.Right, b)
	case t == stubs.NameList:
		l.refuse(n, `write "name" in task.stack`, "lists cannot be compared")
	case t == stubs.Name && op != ir.OpEq && op != ir.OpNe:
		hint := "compare names with ==, != and in"
		if number := cmp.Or(l.asNumber(n.Left, a, stubs.Int), l.asNumber(n.Right, b, stubs.Int)); number != "" {
			hint += "; " + number + " is the number in a label"
		}
		l.refuse(n, hint, "names have no order")
	case t == stubs.Bool && op != ir.OpEq && op != ir.OpNe:
		l.refuse(n, "compare bools with == and !=", "bools have no order")
	}
	l.checkKind(n.Right, a, b)
	l.checkKind(n.Left, b, a)
	a, b = l.name(n.Left, a), l.name(n.Right, b)
	return value{node: l.folded(n, op, stubs.Bool, a.node, b.node)}
}

// checkKind refuses a comparison of a kind with any other string.
func (l *lowerer) checkKind(n ast.Node, kind, v value) {
	if !kind.enum || !v.constText {
		return
	}
	if !KnownKind(v.text) {
		l.refuse(n, "write "+KindNames, "there is no kind %q", v.text)
	}
}

// sum lowers + and -, which keep the unit.
func (l *lowerer) sum(n *ast.BinaryNode, op ir.Op, a, b value) value {
	t := a.node.Type
	if t == stubs.Name && b.node.Type == stubs.Name {
		l.refuse(n, "compare the names, or give the task a label", "strings cannot be built")
	}
	if t != b.node.Type {
		l.mismatch(n, n.Left, a, n.Right, b)
	}
	l.numeric(n, a)
	return value{node: l.folded(n, op, t, a.node, b.node)}
}

// numeric refuses arithmetic on values other than numbers; both operands of n have the type of a.
func (l *lowerer) numeric(n *ast.BinaryNode, a value) {
	if !a.node.Type.Numeric() {
		l.refuse(n, "", "%s works on numbers, and %s is %s", n.Operator, l.excerpt(n.Left), describe(a))
	}
}

// product lowers *: numbers, or a unit scaled by a number.
func (l *lowerer) product(n *ast.BinaryNode, a, b value) value {
	at, bt := a.node.Type, b.node.Type
	switch {
	case at == bt && ir.HasUnit(at):
		l.refuse(n, "multiply by a plain number", "the product of two values of type %s has no meaning", at)
	case at == bt:
		l.numeric(n, a)
		return value{node: l.folded(n, ir.OpMul, at, a.node, b.node)}
	case ir.HasUnit(at) && bt == stubs.Int:
		return value{node: l.folded(n, ir.OpMul, at, a.node, l.retype(n.Right, b.node, at))}
	case ir.HasUnit(bt) && at == stubs.Int:
		return value{node: l.folded(n, ir.OpMul, bt, l.retype(n.Left, a.node, bt), b.node)}
	case ir.HasUnit(at) && bt == stubs.Float:
		return l.scaled(n, ir.OpMul, at, l.float(n.Left, a.node), b.node)
	case ir.HasUnit(bt) && at == stubs.Float:
		return l.scaled(n, ir.OpMul, bt, a.node, l.float(n.Right, b.node))
	}
	l.mismatch(n, n.Left, a, n.Right, b)
	return value{}
}

// quotient lowers /: numbers, a unit by a number, or two values of one unit, which make a ratio.
func (l *lowerer) quotient(n *ast.BinaryNode, a, b value) value {
	at, bt := a.node.Type, b.node.Type
	switch {
	case at == bt && ir.HasUnit(at):
		return value{node: l.folded(n, ir.OpDiv, stubs.Float, l.float(n.Left, a.node), l.float(n.Right, b.node))}
	case at == bt:
		l.numeric(n, a)
		q := l.folded(n, ir.OpDiv, at, a.node, b.node)
		if at == stubs.Int && q.Op == ir.OpConst && int64(a.node.Imm)%int64(b.node.Imm) != 0 {
			l.prog.Dropped = append(l.prog.Dropped, q)
		}
		return value{node: q}
	case ir.HasUnit(at) && bt == stubs.Int:
		return value{node: l.folded(n, ir.OpDiv, at, a.node, l.retype(n.Right, b.node, at))}
	case ir.HasUnit(at) && bt == stubs.Float:
		return l.scaled(n, ir.OpDiv, at, l.float(n.Left, a.node), b.node)
	}
	l.mismatch(n, n.Left, a, n.Right, b)
	return value{}
}

// remainder lowers %, which keeps the unit.
func (l *lowerer) remainder(n *ast.BinaryNode, a, b value) value {
	if a.node.Type != b.node.Type {
		l.mismatch(n, n.Left, a, n.Right, b)
	}
	if !a.node.Type.Integral() {
		l.refuse(n, "", "%% works on whole numbers, and %s is %s", l.excerpt(n.Left), describe(a))
	}
	return value{node: l.folded(n, ir.OpMod, a.node.Type, a.node, b.node)}
}

// scaled is a unit times or by a Float, both given as Float, rounded towards zero to the unit t.
func (l *lowerer) scaled(n ast.Node, op ir.Op, t stubs.Type, a, b *ir.Node) value {
	return value{node: l.folded(n, ir.OpInt, t, l.folded(n, op, stubs.Float, a, b))}
}

func (l *lowerer) float(at ast.Node, n *ir.Node) *ir.Node {
	return l.folded(at, ir.OpFloat, stubs.Float, n)
}

func (l *lowerer) retype(at ast.Node, n *ir.Node, t stubs.Type) *ir.Node {
	return l.folded(at, ir.OpRetype, t, n)
}

package lang

import (
	"github.com/expr-lang/expr/ast"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// extreme lowers min and max of two or more numbers of one type.
func (l *lowerer) extreme(n ast.Node, name string, args []ast.Node) value {
	if len(args) < 2 {
		l.refuse(n, "", "%s takes 2 or more arguments, not %d", name, len(args))
	}
	best := l.value(args[0])
	for _, an := range args[1:] {
		v := l.value(an)
		best, v = l.adapt(args[0], best, v), l.adapt(an, v, best)
		if best.node.Type != v.node.Type {
			l.mismatch(n, args[0], best, an, v)
		}
		if !v.node.Type.Numeric() {
			l.refuse(n, "", "%s compares numbers, and %s is %s", name, l.excerpt(an), describe(v))
		}
		best = l.extremeOf(n, name, best, v)
	}
	return best
}

// extremeOf is the lesser or the greater of two numbers of one type.
func (l *lowerer) extremeOf(n ast.Node, name string, a, b value) value {
	op, ofFloats := ir.OpLt, ir.OpMin
	if name == "max" {
		op, ofFloats = ir.OpGt, ir.OpMax
	}
	if a.node.Type == stubs.Float {
		return value{node: l.folded(n, ofFloats, stubs.Float, a.node, b.node)}
	}
	return l.shared(n, a, func(a value) value {
		return l.shared(n, b, func(b value) value { return l.better(n, op, a, b) })
	})
}

// better is op(a, b) ? a : b. It is not for floats, where a NaN would select either operand.
func (l *lowerer) better(n ast.Node, op ir.Op, a, b value) value {
	c := l.folded(n, op, stubs.Bool, l.use(n, a).node, l.use(n, b).node)
	if c.Op == ir.OpConst {
		if c.Imm == 1 {
			return a
		}
		return b
	}
	return value{node: l.node(n, ir.OpIf, a.node.Type, c, l.use(n, a).node, l.use(n, b).node)}
}

// abs lowers abs(x).
func (l *lowerer) abs(n ast.Node, args []ast.Node) value {
	l.arguments(n, "abs", args, 1)
	v := l.value(args[0])
	t := v.node.Type
	if !t.Numeric() {
		l.refuse(n, "", "abs takes a number, and %s is %s", l.excerpt(args[0]), describe(v))
	}
	return l.shared(n, v, func(x value) value {
		below, minus := ir.OpLt, func() *ir.Node { return l.folded(n, ir.OpNeg, t, l.use(n, x).node) }
		if t == stubs.Float { // of -0.0 it is 0.0, whose reciprocal is above 0
			below, minus = ir.OpLe, func() *ir.Node { return l.folded(n, ir.OpSub, t, l.constant(n, t, 0), l.use(n, x).node) }
		}
		c := l.folded(n, below, stubs.Bool, l.use(n, x).node, l.constant(n, t, 0))
		if c.Op == ir.OpConst && c.Imm == 0 {
			return x
		}
		if c.Op == ir.OpConst {
			return value{node: minus()}
		}
		return value{node: l.node(n, ir.OpIf, t, c, minus(), l.use(n, x).node)}
	})
}

// clamp lowers clamp(x, low, high): low if x is below it, high if x is above it, else x.
func (l *lowerer) clamp(n ast.Node, args []ast.Node) value {
	l.arguments(n, "clamp", args, 3)
	var of [3]value
	for i, an := range args {
		of[i] = l.value(an)
	}
	for i := range of { // a plain number becomes a float if another argument is a float
		for k := range of {
			of[i] = l.adapt(args[i], of[i], of[k])
		}
	}
	for i := range of {
		if of[i].node.Type != of[0].node.Type {
			l.mismatch(n, args[0], of[0], args[i], of[i])
		}
		if !of[i].node.Type.Numeric() {
			l.refuse(n, "", "clamp compares numbers, and %s is %s", l.excerpt(args[i]), describe(of[i]))
		}
	}
	low, high := of[1], of[2]
	if low.constant() && high.constant() && ir.Compare(ir.OpGt, low.node.Type, low.node.Imm, high.node.Imm) {
		l.refuse(n, "write the smaller one first, as in clamp(x, 1, 9)", "the bounds %s and %s hold nothing between them", l.excerpt(args[1]), l.excerpt(args[2]))
	}
	return l.extremeOf(n, "min", l.extremeOf(n, "max", of[0], low), high)
}

// sqrt lowers sqrt(x).
func (l *lowerer) sqrt(n ast.Node, args []ast.Node) value {
	l.arguments(n, "sqrt", args, 1)
	v := l.adapt(args[0], l.value(args[0]), value{node: &ir.Node{Type: stubs.Float}})
	switch t := v.node.Type; {
	case t == stubs.Float && v.constant() && ir.Compare(ir.OpLt, t, v.node.Imm, 0):
		l.refuse(n, "", "%s has no square root", l.excerpt(args[0]))
	case t == stubs.Float:
		return value{node: l.folded(n, ir.OpSqrt, t, v.node)}
	}
	l.refuse(n, unitHint(v, l.excerpt(args[0]), stubs.Float), "sqrt takes a float, and %s is %s", l.excerpt(args[0]), describe(v))
	return value{}
}

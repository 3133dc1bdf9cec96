package isolate

import (
	"math"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// checkSum checks for overflow: a sum has overflowed if its sign differs from both operands', a
// difference if the operands' signs differ and its sign differs from x's.
func (g *generator) checkSum(n *ir.Node) {
	third := g.r
	if n.Op == ir.OpSub {
		third = g.x
	}
	g.get(g.x)
	g.get(g.r)
	g.op(opI64Xor)
	g.get(g.y)
	g.get(third)
	g.op(opI64Xor, opI64And)
	g.i64(0)
	g.op(opI64LtS)
	g.overflow(n)
}

// checkProduct checks for overflow. Factors that fit in 32 bits, the usual case, cannot overflow,
// which saves a division. Otherwise x*y is right if it divides back to y; x = -1 is a special case
// because MinInt64 / -1 traps.
func (g *generator) checkProduct(n *ir.Node) {
	for _, factor := range []int{g.x, g.y} {
		g.get(factor)
		g.i64(1 << 31)
		g.op(opI64Add)
	}
	g.op(opI64Or)
	g.i64(32)
	g.op(opI64ShrU, opI64Eqz, opI32Eqz, opIf, noType)
	g.get(g.x)
	g.i64(math.MaxUint64)
	g.op(opI64Eq, opIf, typeI32)
	g.get(g.y)
	g.i64(1 << 63)
	g.op(opI64Eq, opElse)
	g.get(g.x)
	g.op(opI64Eqz, opIf, typeI32)
	g.i32(0)
	g.op(opElse)
	g.get(g.r)
	g.get(g.x)
	g.op(opI64DivS)
	g.get(g.y)
	g.op(opI64Ne, opEnd, opEnd)
	g.overflow(n)
	g.op(opEnd)
}

// overflow ends the evaluation if the i32 on the stack is not 0. A duration does not overflow: it
// becomes the longest one, in r, with the sign that follows from the operands.
func (g *generator) overflow(n *ir.Node) {
	if n.Type != stubs.Duration {
		g.failIf(overflow, n)
		return
	}
	g.op(opIf, noType)
	g.get(g.x)
	if n.Op == ir.OpMul {
		g.get(g.y)
		g.op(opI64Xor)
	}
	g.i64(63)
	g.op(opI64ShrS) // 0, or all ones if negative
	g.i64(math.MaxInt64)
	g.op(opI64Xor)
	g.set(g.r)
	g.op(opEnd)
}

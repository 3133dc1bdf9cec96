package isolate

import (
	"math"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

var floatOps = map[ir.Op]byte{
	ir.OpAdd: opF64Add, ir.OpSub: opF64Sub, ir.OpMul: opF64Mul, ir.OpDiv: opF64Div,
	ir.OpMin: opF64Min, ir.OpMax: opF64Max,
	ir.OpEq: opF64Eq, ir.OpNe: opF64Ne, ir.OpLt: opF64Lt, ir.OpLe: opF64Le, ir.OpGt: opF64Gt, ir.OpGe: opF64Ge,
}

var integerOps = map[ir.Op]byte{
	ir.OpAdd: opI64Add, ir.OpSub: opI64Sub, ir.OpNeg: opI64Sub, ir.OpMul: opI64Mul, ir.OpDiv: opI64DivS, ir.OpMod: opI64RemS,
	ir.OpEq: opI64Eq, ir.OpNe: opI64Ne, ir.OpLt: opI64LtS, ir.OpLe: opI64LeS, ir.OpGt: opI64GtS, ir.OpGe: opI64GeS,
}

var boolOps = map[ir.Op]byte{ir.OpEq: opI32Eq, ir.OpNe: opI32Ne}

func (g *generator) compare(n *ir.Node) {
	ops := integerOps
	switch n.A.Type {
	case stubs.Float:
		ops = floatOps
	case stubs.Bool:
		ops = boolOps
	}
	g.pooled(n.A)
	g.pooled(n.B)
	g.from(ops, n)
}

// from appends the instruction that ops has for the node's operation.
func (g *generator) from(ops map[ir.Op]byte, n *ir.Node) {
	op, ok := ops[n.Op]
	if !ok {
		g.fail("offset %d: operation %d on %v", n.Pos, n.Op, n.A.Type)
	}
	g.op(op)
}

func (g *generator) unary(n *ir.Node) {
	g.node(n.A)
	switch {
	case n.Op == ir.OpFloat:
		g.op(opF64ConvertI64S)
	case n.Op == ir.OpSqrt:
		g.op(opF64Sqrt)
	case n.Op == ir.OpInt:
		g.truncate(n)
	case n.Type == stubs.Float:
		g.op(opF64Neg)
	default:
		g.set(g.y)
		g.i64(0)
		g.set(g.x)
		g.result(n)
		g.get(g.y)
		g.i64(1 << 63)
		g.op(opI64Eq)
		g.overflow(n)
		g.get(g.r)
	}
}

// truncate converts the float on the stack to an integer, if it is in range, or to the longest
// duration. The limits are exact as floats, and NaN fails both comparisons.
func (g *generator) truncate(n *ir.Node) {
	const limit = 1 << 63
	g.tee(g.f)
	g.constant(&ir.Node{Type: stubs.Float, Imm: math.Float64bits(-limit)})
	g.op(opF64Ge)
	g.get(g.f)
	g.constant(&ir.Node{Type: stubs.Float, Imm: math.Float64bits(limit)})
	g.op(opF64Lt, opI32And)
	if n.Type != stubs.Duration {
		g.op(opI32Eqz)
		g.failIf(conversion, n)
		g.get(g.f)
		g.op(opI64TruncF64S)
		return
	}
	g.op(opIf, typeI64)
	g.get(g.f)
	g.op(opI64TruncF64S, opElse)
	g.get(g.f)
	g.get(g.f)
	g.op(opF64Ne)
	g.failIf(conversion, n)
	g.i64(1 << 63)
	g.i64(math.MaxInt64)
	g.get(g.f)
	g.constant(&ir.Node{Type: stubs.Float})
	g.op(opF64Lt, opSelect, opEnd)
}

func (g *generator) binary(n *ir.Node) {
	g.node(n.A)
	g.node(n.B)
	if n.Type == stubs.Float {
		g.from(floatOps, n)
		return
	}
	g.set(g.y)
	g.set(g.x)
	switch n.Op {
	case ir.OpDiv, ir.OpMod:
		g.divide(n)
	case ir.OpMul:
		g.result(n)
		g.checkProduct(n)
	default:
		g.result(n)
		g.checkSum(n)
	}
	g.get(g.r)
}

// result computes r = x op y, modulo 2^64.
func (g *generator) result(n *ir.Node) {
	g.get(g.x)
	g.get(g.y)
	g.from(integerOps, n)
	g.set(g.r)
}

// divide computes r, except in the two cases in which a machine's division traps. MinInt64 % -1 is
// 0 and needs no check.
func (g *generator) divide(n *ir.Node) {
	g.get(g.y)
	g.op(opI64Eqz)
	g.failIf(divideByZero, n)
	if n.Op == ir.OpMod {
		g.result(n)
		return
	}
	g.get(g.x)
	g.i64(1 << 63)
	g.op(opI64Eq)
	g.get(g.y)
	g.i64(math.MaxUint64)
	g.op(opI64Eq, opI32And)
	if n.Type != stubs.Duration {
		g.failIf(overflow, n)
		g.result(n)
		return
	}
	g.op(opIf, noType)
	g.i64(math.MaxInt64)
	g.set(g.r)
	g.op(opElse)
	g.result(n)
	g.op(opEnd)
}

// failIf ends the evaluation with an error if the i32 on the stack is not 0.
func (g *generator) failIf(class int, n *ir.Node) {
	g.op(opIf, noType)
	g.i64(errorWord(class, n.Pos))
	g.op(opReturn, opEnd)
}

// mix is ir.Mix.
func (g *generator) mix(n *ir.Node) {
	g.node(n.A)
	g.i64(1)
	g.op(opI64Add)
	g.i64(ir.MixStep)
	g.op(opI64Mul)
	g.node(n.B)
	g.op(opI64Add)
	for _, step := range []struct{ shift, factor uint64 }{{30, ir.MixFirst}, {27, ir.MixLast}, {31, 1}} {
		g.tee(g.x)
		g.get(g.x)
		g.i64(step.shift)
		g.op(opI64ShrU, opI64Xor)
		if step.factor != 1 {
			g.i64(step.factor)
			g.op(opI64Mul)
		}
	}
	g.i64(1)
	g.op(opI64ShrU)
}

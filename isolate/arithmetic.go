package isolate

import (
	"math"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

var floatOps = map[policy.Op]byte{
	policy.OpAdd: opF64Add, policy.OpSub: opF64Sub, policy.OpMul: opF64Mul, policy.OpDiv: opF64Div,
	policy.OpMin: opF64Min, policy.OpMax: opF64Max,
	policy.OpEq: opF64Eq, policy.OpNe: opF64Ne, policy.OpLt: opF64Lt, policy.OpLe: opF64Le, policy.OpGt: opF64Gt, policy.OpGe: opF64Ge,
}

var integerOps = map[policy.Op]byte{
	policy.OpAdd: opI64Add, policy.OpSub: opI64Sub, policy.OpNeg: opI64Sub, policy.OpMul: opI64Mul, policy.OpDiv: opI64DivS, policy.OpMod: opI64RemS,
	policy.OpEq: opI64Eq, policy.OpNe: opI64Ne, policy.OpLt: opI64LtS, policy.OpLe: opI64LeS, policy.OpGt: opI64GtS, policy.OpGe: opI64GeS,
}

var boolOps = map[policy.Op]byte{policy.OpEq: opI32Eq, policy.OpNe: opI32Ne}

func (g *generator) compare(n *policy.Node) {
	ops := integerOps
	switch n.A.Type {
	case stubs.Float:
		ops = floatOps
	case stubs.Bool:
		ops = boolOps
	}
	g.node(n.A)
	g.node(n.B)
	g.from(ops, n)
}

// from appends the instruction that ops has for the node's operation.
func (g *generator) from(ops map[policy.Op]byte, n *policy.Node) {
	op, ok := ops[n.Op]
	if !ok {
		g.fail("offset %d: operation %d on %v", n.Pos, n.Op, n.A.Type)
	}
	g.op(op)
}

func (g *generator) unary(n *policy.Node) {
	g.node(n.A)
	switch {
	case n.Op == policy.OpFloat:
		g.op(opF64ConvertI64S)
	case n.Op == policy.OpSqrt:
		g.op(opF64Sqrt)
	case n.Op == policy.OpInt:
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
func (g *generator) truncate(n *policy.Node) {
	const limit = 1 << 63
	g.tee(g.f)
	g.constant(&policy.Node{Type: stubs.Float, Imm: math.Float64bits(-limit)})
	g.op(opF64Ge)
	g.get(g.f)
	g.constant(&policy.Node{Type: stubs.Float, Imm: math.Float64bits(limit)})
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
	g.constant(&policy.Node{Type: stubs.Float})
	g.op(opF64Lt, opSelect, opEnd)
}

func (g *generator) binary(n *policy.Node) {
	g.node(n.A)
	g.node(n.B)
	if n.Type == stubs.Float {
		g.from(floatOps, n)
		return
	}
	g.set(g.y)
	g.set(g.x)
	switch n.Op {
	case policy.OpDiv, policy.OpMod:
		g.divide(n)
	case policy.OpMul:
		g.result(n)
		g.checkProduct(n)
	default:
		g.result(n)
		g.checkSum(n)
	}
	g.get(g.r)
}

// result computes r = x op y, modulo 2^64.
func (g *generator) result(n *policy.Node) {
	g.get(g.x)
	g.get(g.y)
	g.from(integerOps, n)
	g.set(g.r)
}

// divide computes r, except in the two cases in which a machine's division traps. MinInt64 % -1 is
// 0 and needs no check.
func (g *generator) divide(n *policy.Node) {
	g.get(g.y)
	g.op(opI64Eqz)
	g.failIf(divideByZero, n)
	if n.Op == policy.OpMod {
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
func (g *generator) failIf(class int, n *policy.Node) {
	g.op(opIf, noType)
	g.i64(errorWord(class, n.Pos))
	g.op(opReturn, opEnd)
}

// mix is stubs.Mix.
func (g *generator) mix(n *policy.Node) {
	g.node(n.A)
	g.i64(1)
	g.op(opI64Add)
	g.i64(stubs.MixStep)
	g.op(opI64Mul)
	g.node(n.B)
	g.op(opI64Add)
	for _, step := range []struct{ shift, factor uint64 }{{30, stubs.MixFirst}, {27, stubs.MixLast}, {31, 1}} {
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

package isolate

import (
	"encoding/binary"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// generator translates a program into the body of a WebAssembly function. Every node leaves its
// value on the operand stack: a Bool as an i32, 0 or 1, a Float as an f64, every other word and a
// verdict as an i64, and a Unit not at all. WebAssembly's validation is a second check: a wrongly
// typed program does not compile.
type generator struct {
	program *ir.Program
	code    []byte
	locals  []byte // types: first the program's locals, then scratch
	tables  []table
	pool    pool
	retries bool  // a throw says when to retry
	fired   int   // local: bits of the sites that have fired
	x, y, r int   // locals: operands and result of a checked operation, dead between operations
	f       int   // local: a float, dead between operations
	err     error // the first construct that cannot be translated
}

// generate encodes the program as a module, and returns the constants that its memory must have.
func generate(p *ir.Program) ([]byte, pool, error) {
	sets, words, err := tables(p)
	if err != nil {
		return nil, pool{}, err
	}
	g := &generator{program: p, retries: p.SaysRetry(), tables: sets}
	g.pool.address = setsAddress(p) + words*wordBytes
	for _, t := range p.Locals {
		g.locals = append(g.locals, g.valueType(t))
	}
	g.fired, g.x, g.y, g.r, g.f = g.local(typeI64), g.local(typeI64), g.local(typeI64), g.local(typeI64), g.local(typeF64)
	g.body()
	if g.err != nil {
		return nil, pool{}, g.err
	}
	size, err := pages(p, words+len(g.pool.words))
	if err != nil {
		return nil, pool{}, err
	}
	return module(size, g.locals, g.code, setsAddress(p), content(sets)), g.pool, nil
}

// body generates the whole function: the verdict, then the fired bits. Their local starts at 0 in
// every call, so that nothing remains of the previous evaluation.
func (g *generator) body() {
	if len(g.program.Sites) == 0 {
		g.node(g.program.Root)
		return
	}
	g.node(g.program.Root)
	g.i32(0)
	g.get(g.fired)
	g.memory(opI64Store, firedAddress(g.program))
}

// node generates any node.
func (g *generator) node(n *ir.Node) {
	switch n.Op {
	case ir.OpConst:
		g.constant(n)
	case ir.OpVerdict:
		g.verdict(n)
	case ir.OpRead:
		g.read(n)
	case ir.OpLocal:
		g.get(n.Index)
	case ir.OpLet:
		g.node(n.A)
		g.set(n.Index)
		g.node(n.B)
	case ir.OpSeq:
		g.node(n.A)
		g.node(n.B)
	case ir.OpIf, ir.OpAnd, ir.OpOr:
		g.branch(n)
	case ir.OpNot:
		g.node(n.A)
		g.op(opI32Eqz)
	case ir.OpRetype:
		g.node(n.A)
	case ir.OpNeg, ir.OpFloat, ir.OpInt, ir.OpSqrt:
		g.unary(n)
	case ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpDiv, ir.OpMod, ir.OpMin, ir.OpMax:
		g.binary(n)
	case ir.OpIn:
		g.in(n)
	case ir.OpMix:
		g.mix(n)
	case ir.OpEq, ir.OpNe, ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe:
		g.compare(n)
	case ir.OpAny, ir.OpAll, ir.OpNone, ir.OpCount:
		g.quantifier(n)
	case ir.OpEffect:
		g.effect(n)
	case ir.OpTake:
		g.take(n)
	default:
		g.fail("offset %d: operation %d is not known here", n.Pos, n.Op)
	}
}

// verdict leaves the verdict's word, and stores when to retry, if the program has a throw that says
// so.
func (g *generator) verdict(n *ir.Node) {
	if g.retries && stubs.Decision(n.Imm) == stubs.Throw {
		g.i32(0)
		if n.A != nil {
			g.node(n.A)
		} else {
			g.i64(0)
		}
		g.memory(opI64Store, retryAddress(g.program))
	}
	g.i64(verdictWord(n))
}

func (g *generator) constant(n *ir.Node) {
	switch n.Type {
	case stubs.Unit:
	case stubs.Bool:
		g.i32(int32(n.Imm & 1))
	case stubs.Float:
		g.op(opF64Const)
		g.code = binary.LittleEndian.AppendUint64(g.code, n.Imm)
	default:
		g.i64(n.Imm)
	}
}

// pooled generates an operand of a comparison. A constant is not in the code but in memory: policies
// that differ only in names and limits, as time limits do, have the same code, which is compiled
// once.
func (g *generator) pooled(n *ir.Node) {
	if n.Op != ir.OpConst || n.Imm == 0 || g.valueType(n.Type) != typeI64 {
		g.node(n)
		return
	}
	g.i32(0)
	g.memory(opI64Load, g.pool.address+len(g.pool.words)*wordBytes)
	g.pool.words = append(g.pool.words, n.Imm)
}

func (g *generator) read(n *ir.Node) {
	address := n.Index * wordBytes
	g.i32(0)
	switch n.Type {
	case stubs.Bool:
		g.memory(opI64Load, address)
		g.i64(0)
		g.op(opI64Ne)
	case stubs.Float:
		g.memory(opF64Load, address)
	default:
		g.memory(opI64Load, address)
	}
}

// branch generates if, and, or.
func (g *generator) branch(n *ir.Node) {
	g.node(n.A)
	g.block(opIf, n.Type)
	switch n.Op {
	case ir.OpIf:
		g.node(n.B)
		g.op(opElse)
		g.node(n.C)
	case ir.OpAnd:
		g.node(n.B)
		g.op(opElse)
		g.i32(0)
	case ir.OpOr:
		g.i32(1)
		g.op(opElse)
		g.node(n.B)
	}
	g.op(opEnd)
}

// effect stores the operand and marks the site. A NaN ends the evaluation.
func (g *generator) effect(n *ir.Node) {
	if n.A != nil {
		g.i32(0)
		g.node(n.A)
		switch n.A.Type {
		case stubs.Bool:
			g.op(opI64ExtendI32U)
		case stubs.Float:
			g.tee(g.f)
			g.get(g.f)
			g.get(g.f)
			g.op(opF64Ne)
			g.failIf(notANumber, n)
			g.op(opI64ReinterpretF64)
		}
		g.memory(opI64Store, valueAddress(g.program, n.Index))
	}
	g.fire(n.Index)
}

// fire marks a site.
func (g *generator) fire(site int) {
	g.get(g.fired)
	g.i64(1 << site)
	g.op(opI64Or)
	g.set(g.fired)
}

// take stores the number of tokens to take, and marks the site if the bucket has as many. NaN and a
// negative number end the evaluation. Reading the bucket's level leaves the scratch local g.f
// alone.
func (g *generator) take(n *ir.Node) {
	g.node(n.A)
	g.tee(g.f)
	g.constant(&ir.Node{Type: stubs.Float})
	g.op(opF64Ge, opI32Eqz)
	g.failIf(tokens, n)
	g.node(n.B)
	g.get(g.f)
	g.op(opF64Ge, opIf, typeI32)
	g.i32(0)
	g.get(g.f)
	g.op(opI64ReinterpretF64)
	g.memory(opI64Store, valueAddress(g.program, n.Index))
	g.fire(n.Index)
	g.i32(1)
	g.op(opElse)
	g.i32(0)
	g.op(opEnd)
}

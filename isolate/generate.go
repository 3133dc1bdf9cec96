package isolate

import (
	"encoding/binary"
	"fmt"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// generator translates a program into the body of a WebAssembly function. Every node leaves its
// value on the operand stack: a Bool as an i32, 0 or 1, a Float as an f64, every other word and a
// verdict as an i64, and a Unit not at all. WebAssembly's validation is a second check: a wrongly
// typed program does not compile.
type generator struct {
	program *policy.Program
	code    []byte
	locals  []byte // types: first the program's locals, then scratch
	fired   int    // local: bits of the sites that have fired
	x, y, r int    // locals: operands and result of a checked operation, dead between operations
	f       int    // local: a float, dead between operations
	err     error  // the first construct that cannot be translated
}

// generate encodes the program as a module.
func generate(p *policy.Program) ([]byte, error) {
	size, err := pages(p)
	if err != nil {
		return nil, err
	}
	g := &generator{program: p}
	for _, t := range p.Locals {
		g.locals = append(g.locals, g.valueType(t))
	}
	g.fired, g.x, g.y, g.r, g.f = g.local(typeI64), g.local(typeI64), g.local(typeI64), g.local(typeI64), g.local(typeF64)
	g.body()
	if g.err != nil {
		return nil, g.err
	}
	return module(size, g.locals, g.code), nil
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
func (g *generator) node(n *policy.Node) {
	switch n.Op {
	case policy.OpConst:
		g.constant(n)
	case policy.OpVerdict:
		g.i64(verdictWord(n))
	case policy.OpRead:
		g.read(n)
	case policy.OpLocal:
		g.get(n.Index)
	case policy.OpLet:
		g.node(n.A)
		g.set(n.Index)
		g.node(n.B)
	case policy.OpSeq:
		g.node(n.A)
		g.node(n.B)
	case policy.OpIf, policy.OpAnd, policy.OpOr:
		g.branch(n)
	case policy.OpNot:
		g.node(n.A)
		g.op(opI32Eqz)
	case policy.OpRetype:
		g.node(n.A)
	case policy.OpNeg, policy.OpFloat, policy.OpInt:
		g.unary(n)
	case policy.OpAdd, policy.OpSub, policy.OpMul, policy.OpDiv, policy.OpMod, policy.OpMin, policy.OpMax:
		g.binary(n)
	case policy.OpEq, policy.OpNe, policy.OpLt, policy.OpLe, policy.OpGt, policy.OpGe:
		g.compare(n)
	case policy.OpAny, policy.OpAll, policy.OpNone, policy.OpCount:
		g.quantifier(n)
	case policy.OpEffect:
		g.effect(n)
	default:
		g.fail("offset %d: operation %d is not known here", n.Pos, n.Op)
	}
}

func (g *generator) constant(n *policy.Node) {
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

func (g *generator) read(n *policy.Node) {
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
func (g *generator) branch(n *policy.Node) {
	g.node(n.A)
	g.block(opIf, n.Type)
	switch n.Op {
	case policy.OpIf:
		g.node(n.B)
		g.op(opElse)
		g.node(n.C)
	case policy.OpAnd:
		g.node(n.B)
		g.op(opElse)
		g.i32(0)
	case policy.OpOr:
		g.i32(1)
		g.op(opElse)
		g.node(n.B)
	}
	g.op(opEnd)
}

// effect stores the operand and marks the site. A NaN ends the evaluation.
func (g *generator) effect(n *policy.Node) {
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
	g.get(g.fired)
	g.i64(1 << n.Index)
	g.op(opI64Or)
	g.set(g.fired)
}

// valueType returns the WebAssembly type of a scalar.
func (g *generator) valueType(t stubs.Type) byte {
	switch t {
	case stubs.Bool:
		return typeI32
	case stubs.Float:
		return typeF64
	case stubs.Unit:
		return noType
	case stubs.Int, stubs.Duration, stubs.Bytes, stubs.Name, stubs.Verdict:
		return typeI64
	}
	g.fail("a value of type %v", t)
	return noType
}

func (g *generator) fail(format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf("cannot be compiled: "+format, args...)
	}
}

// local declares a new local.
func (g *generator) local(t byte) int {
	g.locals = append(g.locals, t)
	return len(g.locals) - 1
}

func (g *generator) op(ops ...byte) { g.code = append(g.code, ops...) }
func (g *generator) get(local int)  { g.code = unsigned(append(g.code, opLocalGet), local) }
func (g *generator) set(local int)  { g.code = unsigned(append(g.code, opLocalSet), local) }
func (g *generator) tee(local int)  { g.code = unsigned(append(g.code, opLocalTee), local) }
func (g *generator) i32(n int32)    { g.code = signed(append(g.code, opI32Const), int64(n)) }
func (g *generator) i64(n uint64)   { g.code = signed(append(g.code, opI64Const), int64(n)) }

// block opens a block, loop or if that leaves a value of type t.
func (g *generator) block(op byte, t stubs.Type) { g.op(op, g.valueType(t)) }

// memory loads or stores a word at the address on the stack plus offset.
func (g *generator) memory(op byte, offset int) {
	const align = 3 // log2 of 8
	g.code = unsigned(append(g.code, op, align), offset)
}

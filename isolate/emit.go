package isolate

import (
	"fmt"

	"github.com/cocoon-go/cocoon/stubs"
)

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

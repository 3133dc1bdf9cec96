package isolate

import "github.com/cocoon-go/cocoon/internal/ir"

// quantifier generates a loop over the source: k counts the elements up to n, and any, all and none
// leave the loop at the element that decides:
//
//	k = 0; n = length
//	block
//	  loop
//	    if k < n
//	      element = source[k]
//	      predicate; leave the block if it decides
//	      k++; again
//	    end
//	  end
//	  result if nothing decided
//	end
func (g *generator) quantifier(n *ir.Node) {
	k, count := g.local(typeI64), 0
	g.i64(0)
	g.set(k)
	length := g.length(n.Source)
	if n.Op == ir.OpCount {
		count = g.local(typeI64)
		g.i64(0)
		g.set(count)
	}
	g.op(opBlock, g.valueType(n.Type))
	g.op(opLoop, noType)
	g.get(k)
	length()
	g.op(opI64LtU, opIf, noType)
	g.element(n.Source, k)
	g.set(n.Index)
	g.decide(n, count)
	g.get(k)
	g.i64(1)
	g.op(opI64Add)
	g.set(k)
	g.op(opBr, 1, opEnd, opEnd)
	switch n.Op {
	case ir.OpCount:
		g.get(count)
	case ir.OpAny:
		g.i32(0)
	default:
		g.i32(1)
	}
	g.op(opEnd)
}

// decide evaluates the predicate. It branches out of two blocks, loop and if, to the end of the
// quantifier.
func (g *generator) decide(n *ir.Node, count int) {
	switch n.Op {
	case ir.OpCount:
		g.get(count)
		g.node(n.B)
		g.op(opI64ExtendI32U, opI64Add)
		g.set(count)
		return
	case ir.OpAny:
		g.i32(1)
		g.node(n.B)
	case ir.OpAll:
		g.i32(0)
		g.node(n.B)
		g.op(opI32Eqz)
	case ir.OpNone:
		g.i32(0)
		g.node(n.B)
	}
	g.op(opBrIf, 2, opDrop)
}

// length prepares the source's number of elements and returns a function that puts it on the stack.
// The length word of a list is unsigned and limited to the greatest length, so that no element lies
// outside the list.
func (g *generator) length(s ir.Source) func() {
	limit := uint64(s.Bound())
	if !s.List {
		return func() { g.i64(limit) }
	}
	n := g.local(typeI64)
	g.i32(0)
	g.memory(opI64Load, s.Offset*wordBytes)
	g.tee(n)
	g.i64(limit)
	g.get(n)
	g.i64(limit)
	g.op(opI64LtU, opSelect)
	g.set(n)
	return func() { g.get(n) }
}

// element puts the element with number k on the stack.
func (g *generator) element(s ir.Source, k int) {
	if s.List {
		g.get(k)
		g.op(opI32WrapI64)
		g.i32(3)
		g.op(opI32Shl)
		g.memory(opI64Load, (s.Offset+1)*wordBytes)
		return
	}
	g.get(k)
	g.i64(uint64(s.Lo))
	g.op(opI64Add)
}

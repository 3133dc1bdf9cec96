package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// A term is the number of an expression's value: equal expressions have the same term, whatever
// their text and locals, because the values that a policy reads are constant during an evaluation.
// So a fact about a term holds wherever the term is used under it.
type term int32

// shape identifies a term: two expressions are equal if their shapes are. Comparisons and junctions
// are in normal form: of the boolean operations only OpNot, OpAnd, OpEq, OpLt, OpLe (only of
// floats) and OpIf occur.
type shape struct {
	op      ir.Op
	of      stubs.Type
	a, b, c term
	imm     uint64 // of a constant; the offset of a read; a unique number for a unique term
}

// none is the missing operand of a shape.
const none = term(-1)

// term returns the number of s. A new term starts with the values that its shape implies: all
// values, if values is nil.
func (f *facts) term(s shape, values *value) term {
	if t, ok := f.index[s]; ok {
		return t
	}
	v := anyOf(s.of)
	if values != nil {
		v = *values
	}
	t := term(len(f.shapes))
	f.index[s] = t
	f.shapes = append(f.shapes, s)
	f.known = append(f.known, v)
	return t
}

func (f *facts) constant(of stubs.Type, word uint64) term {
	v := constant(of, word)
	return f.term(shape{ir.OpConst, of, none, none, none, word}, &v)
}

func (f *facts) read(r ir.Read) term {
	v := readValue(r)
	return f.term(shape{ir.OpRead, r.Type, none, none, none, uint64(r.Offset)}, &v)
}

// unique makes a term that equals no other: a quantifier or its element.
func (f *facts) unique(v value) term {
	return f.term(shape{ir.OpLocal, v.of, none, none, none, uint64(len(f.shapes))}, &v)
}

func (f *facts) not(a term) term {
	if s := f.shapes[a]; s.op == ir.OpNot {
		return s.a
	}
	return f.term(shape{ir.OpNot, stubs.Bool, a, none, none, 0}, nil)
}

// operation returns the term of a unary or binary operation in its normal form; b is none for a
// unary one.
func (f *facts) operation(op ir.Op, of stubs.Type, a, b term) term {
	integral := f.shapes[a].of.Integral()
	switch op {
	case ir.OpNot:
		return f.not(a)
	case ir.OpNe:
		return f.not(f.operation(ir.OpEq, of, a, b))
	case ir.OpOr:
		return f.not(f.operation(ir.OpAnd, of, f.not(a), f.not(b)))
	case ir.OpGt:
		return f.operation(ir.OpLt, of, b, a)
	case ir.OpGe:
		return f.operation(ir.OpLe, of, b, a)
	case ir.OpLe:
		if integral { // of floats both a <= b and b < a may be false
			return f.not(f.operation(ir.OpLt, of, b, a))
		}
	case ir.OpEq, ir.OpAdd, ir.OpMul, ir.OpMin, ir.OpMax:
		a, b = min(a, b), max(a, b)
	}
	return f.term(shape{op, of, a, b, none, 0}, nil)
}

func (f *facts) choice(of stubs.Type, cond, a, b term) term {
	return f.term(shape{ir.OpIf, of, cond, a, b, 0}, nil)
}

package analyzer

import (
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// A term is the number of an expression's value: equal expressions have the same term, whatever
// their text and locals, because the values that a policy reads are constant during an evaluation.
// So a fact about a term holds wherever the term is used under it.
type term int32

// shape identifies a term: two expressions are equal if their shapes are. Comparisons and junctions
// are in normal form: of the boolean operations only OpNot, OpAnd, OpEq, OpLt, OpLe (floats alone)
// and OpIf occur.
type shape struct {
	op      policy.Op
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
	return f.term(shape{policy.OpConst, of, none, none, none, word}, &v)
}

func (f *facts) read(r policy.Read) term {
	v := readValue(r)
	return f.term(shape{policy.OpRead, r.Type, none, none, none, uint64(r.Offset)}, &v)
}

// unique makes a term that equals no other: a quantifier or its element.
func (f *facts) unique(v value) term {
	return f.term(shape{policy.OpLocal, v.of, none, none, none, uint64(len(f.shapes))}, &v)
}

func (f *facts) not(a term) term {
	if s := f.shapes[a]; s.op == policy.OpNot {
		return s.a
	}
	return f.term(shape{policy.OpNot, stubs.Bool, a, none, none, 0}, nil)
}

// operation returns the term of a unary or binary operation in its normal form; b is none for a
// unary one.
func (f *facts) operation(op policy.Op, of stubs.Type, a, b term) term {
	integral := f.shapes[a].of.Integral()
	switch op {
	case policy.OpNot:
		return f.not(a)
	case policy.OpNe:
		return f.not(f.operation(policy.OpEq, of, a, b))
	case policy.OpOr:
		return f.not(f.operation(policy.OpAnd, of, f.not(a), f.not(b)))
	case policy.OpGt:
		return f.operation(policy.OpLt, of, b, a)
	case policy.OpGe:
		return f.operation(policy.OpLe, of, b, a)
	case policy.OpLe:
		if integral { // of floats both a <= b and b < a may be false
			return f.not(f.operation(policy.OpLt, of, b, a))
		}
	case policy.OpEq, policy.OpAdd, policy.OpMul, policy.OpMin, policy.OpMax:
		a, b = min(a, b), max(a, b)
	}
	return f.term(shape{op, of, a, b, none, 0}, nil)
}

func (f *facts) choice(of stubs.Type, cond, a, b term) term {
	return f.term(shape{policy.OpIf, of, cond, a, b, 0}, nil)
}

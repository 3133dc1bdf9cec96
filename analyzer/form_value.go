package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// maxElements is the greatest length of a quantifier's range. The limit of the cost is far below
// it, but the cost is computed later.
const maxElements = 1 << 20

// operand checks a node with a value of the type want, one level below depth.
func (f *form) operand(n *ir.Node, want stubs.Type, depth int) error {
	depth++
	if err := f.enter(n, depth); err != nil {
		return err
	}
	if n.Type != want || !scalar(want) {
		return at(n, "a %v where a %v belongs", n.Type, want)
	}
	switch n.Op {
	case ir.OpConst, ir.OpRead, ir.OpLocal:
		return f.leaf(n)
	case ir.OpLet:
		return f.let(n, depth, func() error { return f.operand(n.B, want, depth) })
	case ir.OpIf:
		return f.operands(n, depth, stubs.Bool, want, want)
	case ir.OpAny, ir.OpAll, ir.OpNone, ir.OpCount:
		return f.quantifier(n, depth)
	case ir.OpTake:
		return f.take(n, depth)
	}
	return f.operator(n, depth)
}

// operands checks that n has operands of exactly these types.
func (f *form) operands(n *ir.Node, depth int, types ...stubs.Type) error {
	for i, operand := range []*ir.Node{n.A, n.B, n.C} {
		if i >= len(types) {
			if operand != nil {
				return at(n, "too many operands")
			}
			continue
		}
		if err := f.operand(operand, types[i], depth); err != nil {
			return err
		}
	}
	return nil
}

func (f *form) leaf(n *ir.Node) error {
	if n.A != nil || n.B != nil || n.C != nil {
		return at(n, "too many operands")
	}
	switch n.Op {
	case ir.OpConst:
		if n.Type == stubs.Bool && n.Imm > 1 {
			return at(n, "%#x is no %v", n.Imm, n.Type)
		}
	case ir.OpRead:
		if r, ok := f.reads[n.Index]; !ok || r.Type != n.Type {
			return at(n, "no %v is read at word %d of the snapshot", n.Type, n.Index)
		}
	default:
		if n.Index < 0 || n.Index >= len(f.scope) || !f.scope[n.Index] {
			return at(n, "local %d is used outside its scope", n.Index)
		}
		if t := f.p.Locals[n.Index]; t != n.Type {
			return at(n, "local %d is a %v, not a %v", n.Index, t, n.Type)
		}
	}
	return nil
}

// operator checks an operation that evaluates all its operands, or short-circuits them.
func (f *form) operator(n *ir.Node, depth int) error {
	if n.A == nil {
		return at(n, "an operand is missing")
	}
	t, operand := n.Type, n.A.Type
	ok := true
	var types []stubs.Type
	switch n.Op {
	case ir.OpNot:
		ok, types = t == stubs.Bool, []stubs.Type{stubs.Bool}
	case ir.OpAnd, ir.OpOr:
		ok, types = t == stubs.Bool, []stubs.Type{stubs.Bool, stubs.Bool}
	case ir.OpNeg:
		ok, types = t.Numeric(), []stubs.Type{t}
	case ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpDiv:
		ok, types = t.Numeric(), []stubs.Type{t, t}
	case ir.OpSqrt:
		ok, types = t == stubs.Float, []stubs.Type{t}
	case ir.OpMin, ir.OpMax:
		ok, types = t == stubs.Float, []stubs.Type{t, t}
	case ir.OpIn:
		if n.Index < 0 || n.Index >= len(f.p.Sets) {
			return at(n, "set %d of %d", n.Index, len(f.p.Sets))
		}
		ok, types = t == stubs.Bool, []stubs.Type{f.p.Sets[n.Index].Type}
	case ir.OpMix:
		ok, types = t == stubs.Int, []stubs.Type{t, t}
	case ir.OpMod:
		ok, types = t.Integral(), []stubs.Type{t, t}
	case ir.OpEq, ir.OpNe:
		ok, types = t == stubs.Bool && scalar(operand), []stubs.Type{operand, operand}
	case ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe:
		ok, types = t == stubs.Bool && operand.Numeric(), []stubs.Type{operand, operand}
	case ir.OpFloat:
		ok, types = t == stubs.Float && operand.Integral(), []stubs.Type{operand}
	case ir.OpInt:
		ok, types = t.Integral(), []stubs.Type{stubs.Float}
	case ir.OpRetype:
		ok, types = t.Integral() && operand.Integral(), []stubs.Type{operand}
	default:
		return at(n, "no operation with a value")
	}
	if !ok {
		return at(n, "operands of type %v do not make a %v", operand, t)
	}
	return f.operands(n, depth, types...)
}

func (f *form) quantifier(n *ir.Node, depth int) error {
	want, element := stubs.Bool, stubs.Int
	if n.Op == ir.OpCount {
		want = stubs.Int
	}
	if n.Type != want || n.A != nil || n.C != nil {
		return at(n, "no quantifier")
	}
	if s := n.Source; s.List {
		element = stubs.Name
		if r, ok := f.reads[s.Offset]; !ok || r.Type != stubs.NameList || s.Max != r.Words-1 {
			return at(n, "no list of %d names is read at word %d of the snapshot", s.Max, s.Offset)
		}
	} else if s.Bound() > maxElements {
		return f.p.Errorf(n, "make the range shorter", "the range has %d elements, and %d are allowed", s.Bound(), maxElements)
	}
	if err := f.local(n, depth); err != nil {
		return err
	}
	if t := f.p.Locals[n.Index]; t != element {
		return at(n, "elements are %vs, local %d is a %v", element, n.Index, t)
	}
	f.scope[n.Index] = true
	f.loops++
	defer func() { f.scope[n.Index] = false; f.loops-- }()
	return f.operand(n.B, stubs.Bool, depth)
}

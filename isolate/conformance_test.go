package isolate

import (
	"math"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// conformance defines the language case by case, for every evaluator. The test observes an
// expression as the operand of an effect: "continue 0 1 0:0x2a" is the verdict, its reason, the
// fired bits, and site 0's value.
var conformance = []struct {
	name     string
	value    *policy.Node // the operand of site 0
	root     *policy.Node // or the whole program
	locals   []stubs.Type
	snapshot []uint64
	want     string
}{
	{name: "int", value: integer(42), want: "continue 0 1 0:0x2a"},
	{name: "negative", value: integer(-1), want: "continue 0 1 0:0xffffffffffffffff"},
	{name: "bool", value: word(stubs.Bool, 1), want: "continue 0 1 0:0x1"},
	{name: "NaN is no operand", value: word(stubs.Float, 0xfff80000deadbeef), want: failedWith(policy.ErrNotANumber)},
	{name: "negative zero", value: float(math.Copysign(0, -1)), want: "continue 0 1 0:0x8000000000000000"},

	{name: "bool of a crooked word", value: read(stubs.Bool, 0), snapshot: []uint64{1 << 40}, want: "continue 0 1 0:0x1"},
	{name: "a name has 64 bits", value: compare(policy.OpEq, read(stubs.Name, 0), read(stubs.Name, 1)), snapshot: []uint64{1, 1<<32 + 1}, want: "continue 0 1 0:0x0"},
	{name: "let", value: let(0, integer(3), operation(policy.OpMul, stubs.Int, local(stubs.Int, 0), local(stubs.Int, 0))), locals: []stubs.Type{stubs.Int}, want: "continue 0 1 0:0x9"},

	{name: "add", value: arithmetic(policy.OpAdd, math.MaxInt64, math.MinInt64), want: "continue 0 1 0:0xffffffffffffffff"},
	{name: "add overflows", value: arithmetic(policy.OpAdd, math.MaxInt64, 1), want: failedWith(policy.ErrOverflow)},
	{name: "add overflows below", value: arithmetic(policy.OpAdd, math.MinInt64, -1), want: failedWith(policy.ErrOverflow)},
	{name: "sub", value: arithmetic(policy.OpSub, -1, math.MinInt64), want: "continue 0 1 0:0x7fffffffffffffff"},
	{name: "sub overflows", value: arithmetic(policy.OpSub, 0, math.MinInt64), want: failedWith(policy.ErrOverflow)},
	{name: "sub overflows below", value: arithmetic(policy.OpSub, math.MinInt64, 1), want: failedWith(policy.ErrOverflow)},
	{name: "mul", value: arithmetic(policy.OpMul, -1<<31, 1<<32), want: "continue 0 1 0:0x8000000000000000"},
	{name: "mul of 32 bits", value: arithmetic(policy.OpMul, -1<<31, -1<<31), want: "continue 0 1 0:0x4000000000000000"},
	{name: "mul by zero", value: arithmetic(policy.OpMul, 0, math.MinInt64), want: "continue 0 1 0:0x0"},
	{name: "mul of zero", value: arithmetic(policy.OpMul, math.MinInt64, 0), want: "continue 0 1 0:0x0"},
	{name: "mul overflows", value: arithmetic(policy.OpMul, 1<<32, 1<<31), want: failedWith(policy.ErrOverflow)},
	{name: "mul of the least by -1", value: arithmetic(policy.OpMul, math.MinInt64, -1), want: failedWith(policy.ErrOverflow)},
	{name: "mul of -1 by the least", value: arithmetic(policy.OpMul, -1, math.MinInt64), want: failedWith(policy.ErrOverflow)},
	{name: "mul of -1 by the greatest", value: arithmetic(policy.OpMul, -1, math.MaxInt64), want: "continue 0 1 0:0x8000000000000001"},
	{name: "div truncates", value: arithmetic(policy.OpDiv, -7, 2), want: "continue 0 1 0:0xfffffffffffffffd"},
	{name: "div by zero", value: arithmetic(policy.OpDiv, 7, 0), want: failedWith(policy.ErrDivideByZero)},
	{name: "div of the least by -1", value: arithmetic(policy.OpDiv, math.MinInt64, -1), want: failedWith(policy.ErrOverflow)},
	{name: "mod has the sign of the dividend", value: arithmetic(policy.OpMod, -7, 2), want: "continue 0 1 0:0xffffffffffffffff"},
	{name: "mod by zero", value: arithmetic(policy.OpMod, 7, 0), want: failedWith(policy.ErrDivideByZero)},
	{name: "mod of the least by -1", value: arithmetic(policy.OpMod, math.MinInt64, -1), want: "continue 0 1 0:0x0"},
	{name: "neg", value: operation(policy.OpNeg, stubs.Int, integer(5)), want: "continue 0 1 0:0xfffffffffffffffb"},
	{name: "neg overflows", value: operation(policy.OpNeg, stubs.Int, integer(math.MinInt64)), want: failedWith(policy.ErrOverflow)},

	{name: "float div by zero", value: operation(policy.OpDiv, stubs.Float, float(1), float(0)), want: "continue 0 1 0:0x7ff0000000000000"},
	{name: "float zero by zero", value: operation(policy.OpDiv, stubs.Float, float(0), float(0)), want: failedWith(policy.ErrNotANumber)},
	{name: "float neg", value: operation(policy.OpNeg, stubs.Float, float(0)), want: "continue 0 1 0:0x8000000000000000"},
	{name: "NaN is not itself", value: compare(policy.OpEq, float(math.NaN()), float(math.NaN())), want: "continue 0 1 0:0x0"},
	{name: "NaN differs", value: compare(policy.OpNe, float(math.NaN()), float(1)), want: "continue 0 1 0:0x1"},
	{name: "NaN is not ordered", value: compare(policy.OpGe, float(math.NaN()), float(1)), want: "continue 0 1 0:0x0"},
	{name: "zeros are equal", value: compare(policy.OpEq, float(0), float(math.Copysign(0, -1))), want: "continue 0 1 0:0x1"},
	{name: "float of int rounds to even", value: operation(policy.OpFloat, stubs.Float, integer(1<<53+1)), want: "continue 0 1 0:0x4340000000000000"},
	{name: "int truncates", value: operation(policy.OpInt, stubs.Int, float(-1.9)), want: "continue 0 1 0:0xffffffffffffffff"},
	{name: "int of the least", value: operation(policy.OpInt, stubs.Int, float(-1<<63)), want: "continue 0 1 0:0x8000000000000000"},
	{name: "int of too much", value: operation(policy.OpInt, stubs.Int, float(1<<63)), want: failedWith(policy.ErrConversion)},
	{name: "int of too little", value: operation(policy.OpInt, stubs.Int, float(-1<<63-1025)), want: failedWith(policy.ErrConversion)},
	{name: "int of NaN", value: operation(policy.OpInt, stubs.Int, float(math.NaN())), want: failedWith(policy.ErrConversion)},
	{name: "int of infinity", value: operation(policy.OpInt, stubs.Int, float(math.Inf(-1))), want: failedWith(policy.ErrConversion)},

	{name: "and does not look on", value: both(word(stubs.Bool, 0), fails), want: "continue 0 1 0:0x0"},
	{name: "and looks on", value: both(word(stubs.Bool, 1), fails), want: failedWith(policy.ErrDivideByZero)},
	{name: "or does not look on", value: operation(policy.OpOr, stubs.Bool, word(stubs.Bool, 1), fails), want: "continue 0 1 0:0x1"},
	{name: "or looks on", value: operation(policy.OpOr, stubs.Bool, word(stubs.Bool, 0), fails), want: failedWith(policy.ErrDivideByZero)},
	{name: "if takes one branch", value: choose(word(stubs.Bool, 1), word(stubs.Bool, 1), fails), want: "continue 0 1 0:0x1"},
	{name: "bools compare", value: compare(policy.OpNe, word(stubs.Bool, 1), read(stubs.Bool, 0)), snapshot: []uint64{2}, want: "continue 0 1 0:0x0"},

	{name: "any of nobody", value: quantifier(policy.OpAny, list3, 0, word(stubs.Bool, 1)), locals: names, snapshot: list(0, 5, 5, 5), want: "continue 0 1 0:0x0"},
	{name: "all of nobody", value: quantifier(policy.OpAll, list3, 0, word(stubs.Bool, 0)), locals: names, snapshot: list(0, 5, 5, 5), want: "continue 0 1 0:0x1"},
	{name: "none of nobody", value: quantifier(policy.OpNone, list3, 0, word(stubs.Bool, 1)), locals: names, snapshot: list(0, 5, 5, 5), want: "continue 0 1 0:0x1"},
	{name: "any finds the last", value: quantifier(policy.OpAny, list3, 0, isFive), locals: names, snapshot: list(3, 4, 4, 5), want: "continue 0 1 0:0x1"},
	{name: "any does not look behind the length", value: quantifier(policy.OpAny, list3, 0, isFive), locals: names, snapshot: list(2, 4, 4, 5), want: "continue 0 1 0:0x0"},
	{name: "all", value: quantifier(policy.OpAll, list3, 0, isFive), locals: names, snapshot: list(3, 5, 5, 5), want: "continue 0 1 0:0x1"},
	{name: "not all", value: quantifier(policy.OpAll, list3, 0, isFive), locals: names, snapshot: list(3, 5, 5, 4), want: "continue 0 1 0:0x0"},
	{name: "none", value: quantifier(policy.OpNone, list3, 0, isFive), locals: names, snapshot: list(2, 1, 2, 5), want: "continue 0 1 0:0x1"},
	{name: "count", value: quantifier(policy.OpCount, list3, 0, isFive), locals: names, snapshot: list(3, 5, 1, 5), want: "continue 0 1 0:0x2"},
	{name: "a length beyond the greatest is cut off", value: quantifier(policy.OpCount, list3, 0, isFive), locals: names, snapshot: list(1<<61+4, 5, 5, 5), want: "continue 0 1 0:0x3"},
	{name: "a negative length too", value: quantifier(policy.OpCount, list3, 0, isFive), locals: names, snapshot: list(math.MaxUint64, 5, 5, 5), want: "continue 0 1 0:0x3"},
	{name: "any ends at the first", value: quantifier(policy.OpAny, policy.Source{Lo: -1, Hi: 1}, 0, compare(policy.OpEq, operation(policy.OpDiv, stubs.Int, integer(6), local(stubs.Int, 0)), integer(-6))), locals: ints, want: "continue 0 1 0:0x1"},
	{name: "count of a range", value: quantifier(policy.OpCount, policy.Source{Lo: -3, Hi: 3}, 0, compare(policy.OpLt, local(stubs.Int, 0), integer(0))), locals: ints, want: "continue 0 1 0:0x3"},
	{name: "a range to the greatest int", value: quantifier(policy.OpCount, policy.Source{Lo: math.MaxInt64 - 1, Hi: math.MaxInt64}, 0, compare(policy.OpGt, local(stubs.Int, 0), integer(0))), locals: ints, want: "continue 0 1 0:0x2"},
	{name: "a range backwards is empty", value: quantifier(policy.OpCount, policy.Source{Lo: 1, Hi: 0}, 0, word(stubs.Bool, 1)), locals: ints, want: "continue 0 1 0:0x0"},

	{name: "continue", root: verdict(stubs.Continue, 0), want: "continue 0 0"},
	{name: "a throw has a reason", root: verdict(stubs.Throw, 2), want: "throw 2 0"},
	{name: "a switch has none", root: verdict(stubs.Switch, 2), want: "switch 0 0"},
	{name: "no effects on the other branch", root: choose(word(stubs.Bool, 0), then(effect(0, nil), verdict(stubs.Throw, 1)), verdict(stubs.Continue, 0)), want: "continue 0 0"},
	{name: "effects in order", root: then(effect(1, integer(7)), then(effect(0, nil), verdict(stubs.Throw, 1))), want: "throw 1 11 0:0x0 1:0x7"},
	{name: "an error undoes effects", root: then(effect(0, integer(7)), choose(fails, verdict(stubs.Throw, 0), verdict(stubs.Continue, 0))), want: failedWith(policy.ErrDivideByZero)},
	{name: "the last site", root: then(effect(63, word(stubs.Bool, 1)), verdict(stubs.Continue, 0)), want: "continue 0 1000000000000000000000000000000000000000000000000000000000000000 63:0x1"},
	{name: "the operand on both branches", root: choose(word(stubs.Bool, 0), then(effect(0, integer(1)), verdict(stubs.Continue, 0)), then(effect(1, integer(math.MinInt64)), verdict(stubs.Switch, 0))), want: "switch 0 10 1:0x8000000000000000"},
	{name: "an effect for each element", value: quantifier(policy.OpCount, policy.Source{Lo: 1, Hi: 3}, 0, then(effect(1, local(stubs.Int, 0)), word(stubs.Bool, 1))), locals: ints, want: "continue 0 11 0:0x3 1:0x3"},
}

var (
	ints   = []stubs.Type{stubs.Int}
	names  = []stubs.Type{stubs.Name}
	list3  = policy.Source{List: true, Offset: 1, Max: 3}
	isFive = compare(policy.OpEq, local(stubs.Name, 0), word(stubs.Name, 5))
	fails  = compare(policy.OpEq, integer(1), arithmetic(policy.OpDiv, 1, 0))
)

// list returns a snapshot with a list at word 1, surrounded by words outside the list.
func list(length uint64, elements ...uint64) []uint64 {
	return append(append([]uint64{5, length}, elements...), 5)
}

func let(index int, value, body *policy.Node) *policy.Node {
	n := operation(policy.OpLet, body.Type, value, body)
	n.Index = index
	return n
}

func then(first, second *policy.Node) *policy.Node {
	return operation(policy.OpSeq, second.Type, first, second)
}

func arithmetic(op policy.Op, a, b int64) *policy.Node {
	return operation(op, stubs.Int, integer(a), integer(b))
}

// failedWith is the result of an evaluation that fails; the builders place every operation at
// offset 7.
func failedWith(err error) string {
	return result(stubs.Outcome{}, &policy.EvalError{Pos: 7, Err: err})
}

func TestConformance(t *testing.T) {
	stores := engines(t)
	for _, c := range conformance {
		t.Run(c.name, func(t *testing.T) {
			root := c.root
			if root == nil {
				root = then(effect(0, c.value), verdict(stubs.Continue, 0))
			}
			p := &policy.Program{Root: root, Words: len(c.snapshot), Locals: c.locals, Sites: make([]policy.Site, stubs.MaxSites)}
			if got := agree(t, stores, p, c.snapshot)[0]; got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestArithmeticEdges runs every operation over every pair of extremes. The operands are read from
// the snapshot so that no operand is constant.
func TestArithmeticEdges(t *testing.T) {
	stores := engines(t)
	for _, operands := range []stubs.Type{stubs.Int, stubs.Duration, stubs.Float, stubs.Name} {
		var pairs [][]uint64
		words := extremes[operands]
		if operands == stubs.Duration {
			words = extremes[stubs.Int]
		}
		for _, a := range words {
			for _, b := range words {
				pairs = append(pairs, []uint64{a, b})
			}
		}
		for op := policy.OpAdd; op <= policy.OpMax; op++ {
			result := operands
			switch {
			case op > policy.OpGe && op < policy.OpMin || op >= policy.OpMin && operands != stubs.Float:
				continue
			case op >= policy.OpMin:
			case op >= policy.OpEq:
				result = stubs.Bool
			case !operands.Numeric(), op == policy.OpMod && operands == stubs.Float:
				continue
			}
			value := operation(op, result, read(operands, 0), read(operands, 1))
			p := &policy.Program{Root: then(effect(0, value), verdict(stubs.Continue, 0)), Words: 2, Sites: make([]policy.Site, 1)}
			agree(t, stores, p, pairs...)
		}
	}
}

package isolate

import (
	"math"
	"testing"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// conformance defines the language case by case, for every evaluator. The test observes an
// expression as the operand of an effect: "continue 0 1 0:0x2a" is the verdict, its reason, the
// fired bits, and site 0's value.
var conformance = []struct {
	name     string
	value    *ir.Node // the operand of site 0
	root     *ir.Node // or the whole program
	locals   []stubs.Type
	snapshot []uint64
	want     string
}{
	{name: "int", value: integer(42), want: "continue 0 1 0:0x2a"},
	{name: "negative", value: integer(-1), want: "continue 0 1 0:0xffffffffffffffff"},
	{name: "bool", value: word(stubs.Bool, 1), want: "continue 0 1 0:0x1"},
	{name: "NaN is no operand", value: word(stubs.Float, 0xfff80000deadbeef), want: failedWith(ir.ErrNotANumber)},
	{name: "negative zero", value: float(math.Copysign(0, -1)), want: "continue 0 1 0:0x8000000000000000"},

	{name: "bool of a crooked word", value: read(stubs.Bool, 0), snapshot: []uint64{1 << 40}, want: "continue 0 1 0:0x1"},
	{name: "a name has 64 bits", value: compare(ir.OpEq, read(stubs.Name, 0), read(stubs.Name, 1)), snapshot: []uint64{1, 1<<32 + 1}, want: "continue 0 1 0:0x0"},
	{name: "let", value: let(0, integer(3), operation(ir.OpMul, stubs.Int, local(stubs.Int, 0), local(stubs.Int, 0))), locals: []stubs.Type{stubs.Int}, want: "continue 0 1 0:0x9"},

	{name: "add", value: arithmetic(ir.OpAdd, math.MaxInt64, math.MinInt64), want: "continue 0 1 0:0xffffffffffffffff"},
	{name: "add overflows", value: arithmetic(ir.OpAdd, math.MaxInt64, 1), want: failedWith(ir.ErrOverflow)},
	{name: "add overflows below", value: arithmetic(ir.OpAdd, math.MinInt64, -1), want: failedWith(ir.ErrOverflow)},
	{name: "sub", value: arithmetic(ir.OpSub, -1, math.MinInt64), want: "continue 0 1 0:0x7fffffffffffffff"},
	{name: "sub overflows", value: arithmetic(ir.OpSub, 0, math.MinInt64), want: failedWith(ir.ErrOverflow)},
	{name: "sub overflows below", value: arithmetic(ir.OpSub, math.MinInt64, 1), want: failedWith(ir.ErrOverflow)},
	{name: "mul", value: arithmetic(ir.OpMul, -1<<31, 1<<32), want: "continue 0 1 0:0x8000000000000000"},
	{name: "mul of 32 bits", value: arithmetic(ir.OpMul, -1<<31, -1<<31), want: "continue 0 1 0:0x4000000000000000"},
	{name: "mul by zero", value: arithmetic(ir.OpMul, 0, math.MinInt64), want: "continue 0 1 0:0x0"},
	{name: "mul of zero", value: arithmetic(ir.OpMul, math.MinInt64, 0), want: "continue 0 1 0:0x0"},
	{name: "mul overflows", value: arithmetic(ir.OpMul, 1<<32, 1<<31), want: failedWith(ir.ErrOverflow)},
	{name: "mul of the least by -1", value: arithmetic(ir.OpMul, math.MinInt64, -1), want: failedWith(ir.ErrOverflow)},
	{name: "mul of -1 by the least", value: arithmetic(ir.OpMul, -1, math.MinInt64), want: failedWith(ir.ErrOverflow)},
	{name: "mul of -1 by the greatest", value: arithmetic(ir.OpMul, -1, math.MaxInt64), want: "continue 0 1 0:0x8000000000000001"},
	{name: "div truncates", value: arithmetic(ir.OpDiv, -7, 2), want: "continue 0 1 0:0xfffffffffffffffd"},
	{name: "div by zero", value: arithmetic(ir.OpDiv, 7, 0), want: failedWith(ir.ErrDivideByZero)},
	{name: "div of the least by -1", value: arithmetic(ir.OpDiv, math.MinInt64, -1), want: failedWith(ir.ErrOverflow)},
	{name: "mod has the sign of the dividend", value: arithmetic(ir.OpMod, -7, 2), want: "continue 0 1 0:0xffffffffffffffff"},
	{name: "mod by zero", value: arithmetic(ir.OpMod, 7, 0), want: failedWith(ir.ErrDivideByZero)},
	{name: "mod of the least by -1", value: arithmetic(ir.OpMod, math.MinInt64, -1), want: "continue 0 1 0:0x0"},
	{name: "neg", value: operation(ir.OpNeg, stubs.Int, integer(5)), want: "continue 0 1 0:0xfffffffffffffffb"},
	{name: "neg overflows", value: operation(ir.OpNeg, stubs.Int, integer(math.MinInt64)), want: failedWith(ir.ErrOverflow)},

	{name: "float div by zero", value: operation(ir.OpDiv, stubs.Float, float(1), float(0)), want: "continue 0 1 0:0x7ff0000000000000"},
	{name: "float zero by zero", value: operation(ir.OpDiv, stubs.Float, float(0), float(0)), want: failedWith(ir.ErrNotANumber)},
	{name: "float neg", value: operation(ir.OpNeg, stubs.Float, float(0)), want: "continue 0 1 0:0x8000000000000000"},
	{name: "NaN is not itself", value: compare(ir.OpEq, float(math.NaN()), float(math.NaN())), want: "continue 0 1 0:0x0"},
	{name: "NaN differs", value: compare(ir.OpNe, float(math.NaN()), float(1)), want: "continue 0 1 0:0x1"},
	{name: "NaN is not ordered", value: compare(ir.OpGe, float(math.NaN()), float(1)), want: "continue 0 1 0:0x0"},
	{name: "zeros are equal", value: compare(ir.OpEq, float(0), float(math.Copysign(0, -1))), want: "continue 0 1 0:0x1"},
	{name: "float of int rounds to even", value: operation(ir.OpFloat, stubs.Float, integer(1<<53+1)), want: "continue 0 1 0:0x4340000000000000"},
	{name: "int truncates", value: operation(ir.OpInt, stubs.Int, float(-1.9)), want: "continue 0 1 0:0xffffffffffffffff"},
	{name: "int of the least", value: operation(ir.OpInt, stubs.Int, float(-1<<63)), want: "continue 0 1 0:0x8000000000000000"},
	{name: "int of too much", value: operation(ir.OpInt, stubs.Int, float(1<<63)), want: failedWith(ir.ErrConversion)},
	{name: "int of too little", value: operation(ir.OpInt, stubs.Int, float(-1<<63-1025)), want: failedWith(ir.ErrConversion)},
	{name: "int of NaN", value: operation(ir.OpInt, stubs.Int, float(math.NaN())), want: failedWith(ir.ErrConversion)},
	{name: "int of infinity", value: operation(ir.OpInt, stubs.Int, float(math.Inf(-1))), want: failedWith(ir.ErrConversion)},

	{name: "and does not look on", value: both(word(stubs.Bool, 0), fails), want: "continue 0 1 0:0x0"},
	{name: "and looks on", value: both(word(stubs.Bool, 1), fails), want: failedWith(ir.ErrDivideByZero)},
	{name: "or does not look on", value: operation(ir.OpOr, stubs.Bool, word(stubs.Bool, 1), fails), want: "continue 0 1 0:0x1"},
	{name: "or looks on", value: operation(ir.OpOr, stubs.Bool, word(stubs.Bool, 0), fails), want: failedWith(ir.ErrDivideByZero)},
	{name: "if takes one branch", value: choose(word(stubs.Bool, 1), word(stubs.Bool, 1), fails), want: "continue 0 1 0:0x1"},
	{name: "bools compare", value: compare(ir.OpNe, word(stubs.Bool, 1), read(stubs.Bool, 0)), snapshot: []uint64{2}, want: "continue 0 1 0:0x0"},

	{name: "any of nobody", value: quantifier(ir.OpAny, list3, 0, word(stubs.Bool, 1)), locals: names, snapshot: list(0, 5, 5, 5), want: "continue 0 1 0:0x0"},
	{name: "all of nobody", value: quantifier(ir.OpAll, list3, 0, word(stubs.Bool, 0)), locals: names, snapshot: list(0, 5, 5, 5), want: "continue 0 1 0:0x1"},
	{name: "none of nobody", value: quantifier(ir.OpNone, list3, 0, word(stubs.Bool, 1)), locals: names, snapshot: list(0, 5, 5, 5), want: "continue 0 1 0:0x1"},
	{name: "any finds the last", value: quantifier(ir.OpAny, list3, 0, isFive), locals: names, snapshot: list(3, 4, 4, 5), want: "continue 0 1 0:0x1"},
	{name: "any does not look behind the length", value: quantifier(ir.OpAny, list3, 0, isFive), locals: names, snapshot: list(2, 4, 4, 5), want: "continue 0 1 0:0x0"},
	{name: "all", value: quantifier(ir.OpAll, list3, 0, isFive), locals: names, snapshot: list(3, 5, 5, 5), want: "continue 0 1 0:0x1"},
	{name: "not all", value: quantifier(ir.OpAll, list3, 0, isFive), locals: names, snapshot: list(3, 5, 5, 4), want: "continue 0 1 0:0x0"},
	{name: "none", value: quantifier(ir.OpNone, list3, 0, isFive), locals: names, snapshot: list(2, 1, 2, 5), want: "continue 0 1 0:0x1"},
	{name: "count", value: quantifier(ir.OpCount, list3, 0, isFive), locals: names, snapshot: list(3, 5, 1, 5), want: "continue 0 1 0:0x2"},
	{name: "a length beyond the greatest is cut off", value: quantifier(ir.OpCount, list3, 0, isFive), locals: names, snapshot: list(1<<61+4, 5, 5, 5), want: "continue 0 1 0:0x3"},
	{name: "a negative length too", value: quantifier(ir.OpCount, list3, 0, isFive), locals: names, snapshot: list(math.MaxUint64, 5, 5, 5), want: "continue 0 1 0:0x3"},
	{name: "any ends at the first", value: quantifier(ir.OpAny, ir.Source{Lo: -1, Hi: 1}, 0, compare(ir.OpEq, operation(ir.OpDiv, stubs.Int, integer(6), local(stubs.Int, 0)), integer(-6))), locals: ints, want: "continue 0 1 0:0x1"},
	{name: "count of a range", value: quantifier(ir.OpCount, ir.Source{Lo: -3, Hi: 3}, 0, compare(ir.OpLt, local(stubs.Int, 0), integer(0))), locals: ints, want: "continue 0 1 0:0x3"},
	{name: "a range to the greatest int", value: quantifier(ir.OpCount, ir.Source{Lo: math.MaxInt64 - 1, Hi: math.MaxInt64}, 0, compare(ir.OpGt, local(stubs.Int, 0), integer(0))), locals: ints, want: "continue 0 1 0:0x2"},
	{name: "a range backwards is empty", value: quantifier(ir.OpCount, ir.Source{Lo: 1, Hi: 0}, 0, word(stubs.Bool, 1)), locals: ints, want: "continue 0 1 0:0x0"},

	{name: "continue", root: verdict(stubs.Continue, 0), want: "continue 0 0"},
	{name: "a throw has a reason", root: verdict(stubs.Throw, 2), want: "throw 2 0"},
	{name: "a switch has none", root: verdict(stubs.Switch, 2), want: "switch 0 0"},
	{name: "no effects on the other branch", root: choose(word(stubs.Bool, 0), then(effect(0, nil), verdict(stubs.Throw, 1)), verdict(stubs.Continue, 0)), want: "continue 0 0"},
	{name: "effects in order", root: then(effect(1, integer(7)), then(effect(0, nil), verdict(stubs.Throw, 1))), want: "throw 1 11 0:0x0 1:0x7"},
	{name: "an error undoes effects", root: then(effect(0, integer(7)), choose(fails, verdict(stubs.Throw, 0), verdict(stubs.Continue, 0))), want: failedWith(ir.ErrDivideByZero)},
	{name: "the last site", root: then(effect(63, word(stubs.Bool, 1)), verdict(stubs.Continue, 0)), want: "continue 0 1000000000000000000000000000000000000000000000000000000000000000 63:0x1"},
	{name: "the operand on both branches", root: choose(word(stubs.Bool, 0), then(effect(0, integer(1)), verdict(stubs.Continue, 0)), then(effect(1, integer(math.MinInt64)), verdict(stubs.Switch, 0))), want: "switch 0 10 1:0x8000000000000000"},
	{name: "take what is there", value: takes(2.5, 2.5), want: "continue 0 11 0:0x1 1:0x4004000000000000"},
	{name: "take nothing", value: takes(0, 0), want: "continue 0 11 0:0x1 1:0x0"},
	{name: "take too much", value: takes(2.5, 2.25), want: "continue 0 1 0:0x0"},
	{name: "take infinitely much", value: takes(math.Inf(1), 5), want: "continue 0 1 0:0x0"},
	{name: "take less than nothing", value: takes(-1, 5), want: failedWith(ir.ErrTokens)},
	{name: "take NaN", value: takes(math.NaN(), 5), want: failedWith(ir.ErrTokens)},
	{name: "an effect for each element", value: quantifier(ir.OpCount, ir.Source{Lo: 1, Hi: 3}, 0, then(effect(1, local(stubs.Int, 0)), word(stubs.Bool, 1))), locals: ints, want: "continue 0 11 0:0x3 1:0x3"},
}

// takes takes from a bucket, at site 1.
func takes(wanted, there float64) *ir.Node {
	n := operation(ir.OpTake, stubs.Bool, float(wanted), float(there))
	n.Index = 1
	return n
}

var (
	ints   = []stubs.Type{stubs.Int}
	names  = []stubs.Type{stubs.Name}
	list3  = ir.Source{List: true, Offset: 1, Max: 3}
	isFive = compare(ir.OpEq, local(stubs.Name, 0), word(stubs.Name, 5))
	fails  = compare(ir.OpEq, integer(1), arithmetic(ir.OpDiv, 1, 0))
)

// list returns a snapshot with a list at word 1, surrounded by words outside the list.
func list(length uint64, elements ...uint64) []uint64 {
	return append(append([]uint64{5, length}, elements...), 5)
}

func let(index int, value, body *ir.Node) *ir.Node {
	n := operation(ir.OpLet, body.Type, value, body)
	n.Index = index
	return n
}

func then(first, second *ir.Node) *ir.Node {
	return operation(ir.OpSeq, second.Type, first, second)
}

func arithmetic(op ir.Op, a, b int64) *ir.Node {
	return operation(op, stubs.Int, integer(a), integer(b))
}

// failedWith is the result of an evaluation that fails; the builders place every operation at
// offset 7.
func failedWith(err error) string {
	return result(ir.Outcome{}, &ir.EvalError{Pos: 7, Err: err})
}

func TestConformance(t *testing.T) {
	stores := engines(t)
	for _, c := range conformance {
		t.Run(c.name, func(t *testing.T) {
			root := c.root
			if root == nil {
				root = then(effect(0, c.value), verdict(stubs.Continue, 0))
			}
			p := &ir.Program{Root: root, Words: len(c.snapshot), Locals: c.locals, Sites: make([]ir.Site, stubs.MaxSites)}
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
		for op := ir.OpAdd; op <= ir.OpMax; op++ {
			result := operands
			switch {
			case op > ir.OpGe && op < ir.OpMin || op >= ir.OpMin && operands != stubs.Float:
				continue
			case op >= ir.OpMin:
			case op >= ir.OpEq:
				result = stubs.Bool
			case !operands.Numeric(), op == ir.OpMod && operands == stubs.Float:
				continue
			}
			value := operation(op, result, read(operands, 0), read(operands, 1))
			p := &ir.Program{Root: then(effect(0, value), verdict(stubs.Continue, 0)), Words: 2, Sites: make([]ir.Site, 1)}
			agree(t, stores, p, pairs...)
		}
	}
}

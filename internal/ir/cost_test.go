package ir

import (
	"math"
	"testing"

	"github.com/cocoon-go/cocoon/stubs"
)

func TestCostOfEveryOperation(t *testing.T) {
	for op := OpConst; op <= OpVerdict; op++ {
		if c := Cost(op); c < 1 || c > 100 {
			t.Errorf("operation %d costs %d", op, c)
		}
	}
	if c := Cost(OpVerdict + 1); c != math.MaxInt {
		t.Errorf("an operation that does not exist costs %d", c)
	}
}

func TestBound(t *testing.T) {
	leaf := &Node{Op: OpConst}
	div := &Node{Op: OpDiv, A: leaf, B: leaf}
	loop := func(s Source) *Node { return &Node{Op: OpCount, Source: s, B: leaf} }
	one := Cost(OpConst)
	for _, c := range []struct {
		name string
		node *Node
		want int
	}{
		{"nothing", nil, 0},
		{"a constant", leaf, one},
		{"both operands", div, Cost(OpDiv) + 2*one},
		{"the costlier branch", &Node{Op: OpIf, A: leaf, B: leaf, C: div}, Cost(OpIf) + one + Bound(div)},
		{"the costlier branch, the other one", &Node{Op: OpIf, A: leaf, B: div, C: leaf}, Cost(OpIf) + one + Bound(div)},
		{"no short-circuit", &Node{Op: OpAnd, A: leaf, B: div}, Cost(OpAnd) + one + Bound(div)},
		{"each element", loop(Source{Lo: -1, Hi: 3}), Cost(OpCount) + 5*(ElementCost+one)},
		{"the whole list", loop(Source{List: true, Max: 16}), Cost(OpCount) + 16*(ElementCost+one)},
		{"no element", loop(Source{Lo: 1, Hi: 0}), Cost(OpCount)},
		{"every int", loop(Source{Lo: math.MinInt64, Hi: math.MaxInt64}), math.MaxInt},
		{"nearly every int", loop(Source{Lo: 0, Hi: math.MaxInt64}), math.MaxInt},
		{"too many in each other", &Node{Op: OpAny, Source: Source{Hi: 1 << 40}, B: loop(Source{Hi: 1 << 40})}, math.MaxInt},
		{"beside too many", &Node{Op: OpSeq, A: loop(Source{Hi: math.MaxInt64}), B: leaf}, math.MaxInt},
	} {
		if got := Bound(c.node); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

// TestStepsAreTheBound: without a choice between paths the meter reads exactly the bound.
func TestStepsAreTheBound(t *testing.T) {
	yes := &Node{Op: OpConst, Type: stubs.Bool, Imm: 1}
	count := &Node{Op: OpCount, Type: stubs.Int, Source: Source{Lo: 1, Hi: 7}, B: yes}
	p := &Program{
		Locals: []stubs.Type{stubs.Int}, Sites: []Site{{Type: stubs.Int}},
		Root: &Node{Op: OpSeq, A: &Node{Op: OpEffect, A: count}, B: &Node{Op: OpVerdict}},
	}
	out, steps, err := Interpret(p, nil)
	if err != nil || steps != Bound(p.Root) || out.Fired != 1 || out.Values[0] != 7 {
		t.Errorf("got %d steps, %v, %v; the bound is %d", steps, out, err, Bound(p.Root))
	}
}

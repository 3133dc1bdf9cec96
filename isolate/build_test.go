package isolate

import (
	"context"
	"math"
	"testing"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// Builders of IR, so that a test reads like an expression.

func word(t stubs.Type, w uint64) *ir.Node {
	return &ir.Node{Op: ir.OpConst, Type: t, Imm: w}
}

func integer(i int64) *ir.Node { return word(stubs.Int, uint64(i)) }

func float(f float64) *ir.Node { return word(stubs.Float, math.Float64bits(f)) }

func read(t stubs.Type, index int) *ir.Node {
	return &ir.Node{Op: ir.OpRead, Type: t, Index: index}
}

func local(t stubs.Type, index int) *ir.Node {
	return &ir.Node{Op: ir.OpLocal, Type: t, Index: index}
}

func operation(op ir.Op, t stubs.Type, operands ...*ir.Node) *ir.Node {
	n := &ir.Node{Op: op, Type: t, Pos: 7}
	for i, p := range []**ir.Node{&n.A, &n.B, &n.C} {
		if i < len(operands) {
			*p = operands[i]
		}
	}
	return n
}

func compare(op ir.Op, a, b *ir.Node) *ir.Node { return operation(op, stubs.Bool, a, b) }

func both(a, b *ir.Node) *ir.Node { return operation(ir.OpAnd, stubs.Bool, a, b) }

func choose(condition, then, otherwise *ir.Node) *ir.Node {
	return operation(ir.OpIf, then.Type, condition, then, otherwise)
}

func verdict(d stubs.Decision, reason int) *ir.Node {
	return &ir.Node{Op: ir.OpVerdict, Type: stubs.Verdict, Imm: uint64(d), Index: reason}
}

func quantifier(op ir.Op, s ir.Source, local int, predicate *ir.Node) *ir.Node {
	t := stubs.Bool
	if op == ir.OpCount {
		t = stubs.Int
	}
	return &ir.Node{Op: op, Type: t, Source: s, Index: local, B: predicate}
}

func effect(site int, operand *ir.Node) *ir.Node {
	return &ir.Node{Op: ir.OpEffect, Type: stubs.Unit, Index: site, Pos: 7, A: operand}
}

// evaluator makes an evaluator of the program in a new store, on the engine that NewStore chooses.
func evaluator(t testing.TB, p *ir.Program) *Evaluator {
	t.Helper()
	s, err := NewStore(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	m, err := s.compile(p)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.NewEvaluator()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

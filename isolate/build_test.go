package isolate

import (
	"context"
	"math"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Builders of IR, so that a test reads like an expression.

func word(t stubs.Type, w uint64) *policy.Node {
	return &policy.Node{Op: policy.OpConst, Type: t, Imm: w}
}

func integer(i int64) *policy.Node { return word(stubs.Int, uint64(i)) }

func float(f float64) *policy.Node { return word(stubs.Float, math.Float64bits(f)) }

func read(t stubs.Type, index int) *policy.Node {
	return &policy.Node{Op: policy.OpRead, Type: t, Index: index}
}

func local(t stubs.Type, index int) *policy.Node {
	return &policy.Node{Op: policy.OpLocal, Type: t, Index: index}
}

func operation(op policy.Op, t stubs.Type, operands ...*policy.Node) *policy.Node {
	n := &policy.Node{Op: op, Type: t, Pos: 7}
	for i, p := range []**policy.Node{&n.A, &n.B, &n.C} {
		if i < len(operands) {
			*p = operands[i]
		}
	}
	return n
}

func compare(op policy.Op, a, b *policy.Node) *policy.Node { return operation(op, stubs.Bool, a, b) }

func both(a, b *policy.Node) *policy.Node { return operation(policy.OpAnd, stubs.Bool, a, b) }

func choose(condition, then, otherwise *policy.Node) *policy.Node {
	return operation(policy.OpIf, then.Type, condition, then, otherwise)
}

func verdict(d stubs.Decision, reason int) *policy.Node {
	return &policy.Node{Op: policy.OpVerdict, Type: stubs.Verdict, Imm: uint64(d), Index: reason}
}

func quantifier(op policy.Op, s policy.Source, local int, predicate *policy.Node) *policy.Node {
	t := stubs.Bool
	if op == policy.OpCount {
		t = stubs.Int
	}
	return &policy.Node{Op: op, Type: t, Source: s, Index: local, B: predicate}
}

func effect(site int, operand *policy.Node) *policy.Node {
	return &policy.Node{Op: policy.OpEffect, Type: stubs.Unit, Index: site, Pos: 7, A: operand}
}

// evaluator makes an evaluator of the program in a new store, on the engine that NewStore chooses.
func evaluator(t testing.TB, p *policy.Program) *Evaluator {
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

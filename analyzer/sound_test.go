package analyzer

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// The analysis is sound when every value that it excludes is never there. The tests below put each
// claim into the program itself: an expression e with the values V becomes "let x = (e in V or
// trap); e", where trap divides by zero at a place of its own; what is never reached gets the trap
// alone. Then the reference interpreter runs the program.

// trapped is the place of traps in the text.
const trapped = 1 << 30

func operation(op ir.Op, t stubs.Type, operands ...*ir.Node) *ir.Node {
	return new(random).node(op, t, operands...)
}

func literal(t stubs.Type, word uint64) *ir.Node {
	return &ir.Node{Op: ir.OpConst, Type: t, Imm: word}
}

func trap() *ir.Node {
	divide := operation(ir.OpDiv, stubs.Int, literal(stubs.Int, 1), literal(stubs.Int, 0))
	divide.Pos = trapped
	return operation(ir.OpEq, stubs.Bool, divide, literal(stubs.Int, 0))
}

// all joins conditions by and.
func all(conditions ...*ir.Node) *ir.Node {
	n := literal(stubs.Bool, 1)
	for _, c := range conditions {
		n = operation(ir.OpAnd, stubs.Bool, n, c)
	}
	return n
}

// within is the condition that e has one of the values v.
func within(e *ir.Node, v value) *ir.Node {
	compare := func(op ir.Op, word uint64) *ir.Node {
		return operation(op, stubs.Bool, copyOf(e), literal(e.Type, word))
	}
	switch e.Type {
	case stubs.Bool:
		return operation(ir.OpIf, stubs.Bool, copyOf(e), literal(stubs.Bool, stubs.FromBool(v.truth.yes)), literal(stubs.Bool, stubs.FromBool(v.truth.no)))
	case stubs.Name:
		one := literal(stubs.Bool, 0)
		for _, id := range v.names.ids {
			one = operation(ir.OpOr, stubs.Bool, one, compare(ir.OpEq, uint64(id)))
		}
		if v.names.except {
			one = operation(ir.OpNot, stubs.Bool, one)
		}
		return one
	case stubs.Float:
		number := all(compare(ir.OpGe, math.Float64bits(v.floats.lo)), compare(ir.OpLe, math.Float64bits(v.floats.hi)))
		if v.floats.nonzero {
			number = all(number, compare(ir.OpNe, 0))
		}
		isNaN := operation(ir.OpNe, stubs.Bool, copyOf(e), copyOf(e))
		return operation(ir.OpIf, stubs.Bool, isNaN, literal(stubs.Bool, stubs.FromBool(v.floats.nan)), number)
	}
	number := all(compare(ir.OpGe, uint64(v.ints.lo)), compare(ir.OpLe, uint64(v.ints.hi)))
	if v.ints.nonzero {
		number = all(number, compare(ir.OpNe, 0))
	}
	return number
}

// impossible reports whether an evaluation ended in a way in which no verified program does.
func impossible(err error) bool {
	return errors.Is(err, ir.ErrDivideByZero) || errors.Is(err, ir.ErrTokens)
}

// checkSound checks the claims about one random program over random snapshots, and reports whether
// it was accepted.
func checkSound(t *testing.T, data []byte, runs int) (accepted bool) {
	r := &random{data: data}
	p := randomProgram(r)
	if err := checkForm(p); err != nil {
		t.Fatalf("the generator made a bad program: %v", err)
	}
	snapshots := make([][]uint64, runs)
	for i := range snapshots {
		snapshots[i] = r.snapshot()
	}
	v, err := Verify(p, Limits{Cost: math.MaxInt})
	for _, s := range snapshots {
		_, steps, runErr := ir.Interpret(p, s)
		if err == nil && (impossible(runErr) || steps > v.Cost()) {
			t.Fatalf("a verified program took %d steps of %d: %v", steps, v.Cost(), runErr)
		}
	}
	if err == nil {
		judge(v)
	}
	a := newAnalysis(p, 0)
	a.statement(p.Root)
	claims := 0
	var visit func(n *ir.Node)
	visit = func(n *ir.Node) {
		if n == nil || t.Failed() {
			return
		}
		visit(n.A)
		visit(n.B)
		visit(n.C)
		if claims++; claims < 150 {
			checkClaim(t, a, n, snapshots)
		}
	}
	visit(p.Root)
	return err == nil
}

// judge looks for the warnings that a server logs, which must not fail for any program.
func judge(v Verified) {
	m := []Member{{policy.Spec{Name: "p"}, v}}
	OnSlots(m[0], []Loop{{"a", 1}, {"b", 2}, {"c", 1000}})
	Unaccompanied(m, nil)
	percentages(m, Declared{States: statesOf(map[string]any{"i": 100, "f": 100.0, "n": -1})})
}

// checkClaim checks what the analysis says about the one node n.
func checkClaim(t *testing.T, a *analysis, n *ir.Node, snapshots [][]uint64) {
	var claim *ir.Node
	v, evaluated := a.values[n]
	switch {
	case n.Op == ir.OpConst:
		return
	case evaluated:
		if v.same(anyOf(n.Type)) {
			return
		}
		claim = operation(ir.OpOr, stubs.Bool, within(n, v), trap())
	case n.Type == stubs.Unit && n.Op != ir.OpEffect || n.Type == stubs.Verdict && n.Op != ir.OpVerdict || a.reached[n]:
		return
	default:
		claim = trap()
	}
	original := *n
	defer func() { *n = original }()
	*n = ir.Node{Op: ir.OpLet, Type: n.Type, Index: len(a.p.Locals), A: claim, B: copyOf(n)}
	instrumented := *a.p
	instrumented.Locals = append(instrumented.Locals[:len(instrumented.Locals):len(instrumented.Locals)], stubs.Bool)
	for _, s := range snapshots {
		_, _, err := ir.Interpret(&instrumented, s)
		var at *ir.EvalError
		if errors.As(err, &at) && at.Pos == trapped {
			*n = original
			t.Errorf("wrong claim about\n%s\nin\n%s\nevaluated: %v, values %+v\nsnapshot %d", show(n), show(a.p.Root), evaluated, v, s)
			return
		}
	}
}

func TestSound(t *testing.T) {
	programs := longtest.Count(3000, 80)
	rng := rand.New(rand.NewPCG(1, 2))
	accepted := 0
	for range programs {
		data := make([]byte, 700)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		if checkSound(t, data, 12) {
			accepted++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d of %d accepted", accepted, programs)
	if accepted < programs/10 {
		t.Errorf("%d of %d programs were accepted; the test sees too few", accepted, programs)
	}
}

func FuzzSound(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		data := make([]byte, 400)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkSound(t, data, 12) })
}

// FuzzText verifies what people may write: whatever is accepted runs without dividing by zero,
// within its cost.
func FuzzText(f *testing.F) {
	for _, d := range divisions {
		f.Add("("+d.text+`) ? throw("x") : continue()`, uint64(1))
	}
	f.Add(`set("i", count(task.stack, # == "a")); interval(max(task.running, duration("1ms"))); cancel()`, uint64(2))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		p, err := lang.Parse(text, testEnv)
		if err != nil {
			return
		}
		v, err := Verify(p, Limits{})
		if errors.Is(err, ErrMalformed) {
			t.Fatalf("%s\nparses, and %v", text, err)
		}
		if err != nil {
			return
		}
		judge(v)
		r := &random{prog: *p}
		rng := rand.New(rand.NewPCG(seed, 1))
		for range 10 {
			r.data = make([]byte, 1000)
			for i := range r.data {
				r.data[i] = byte(rng.Uint32())
			}
			if _, steps, err := ir.Interpret(p, r.snapshot()); impossible(err) || steps > v.Cost() {
				t.Fatalf("%s\ntook %d steps of %d: %v", text, steps, v.Cost(), err)
			}
		}
	})
}

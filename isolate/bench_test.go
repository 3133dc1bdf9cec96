package isolate

import (
	"math"
	"testing"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// The two policies of the paper, written by hand: a time limit on a section, and a switch when a
// safe task waits.
var (
	regexLimit = &ir.Program{
		Words: 2, Reasons: []string{"regex took too long"},
		Root: choose(both(compare(ir.OpEq, read(stubs.Name, 0), word(stubs.Name, uint64(stubs.Intern("regex.match")))),
			compare(ir.OpGt, read(stubs.Duration, 1), word(stubs.Duration, uint64(100*time.Millisecond)))),
			verdict(stubs.Throw, 0), verdict(stubs.Continue, 0)),
	}
	headOfLine = &ir.Program{
		Words: 3,
		Root: choose(both(compare(ir.OpGt, read(stubs.Int, 0), word(stubs.Int, 0)),
			both(compare(ir.OpEq, read(stubs.Name, 1), word(stubs.Name, uint64(stubs.Kinds[1]))),
				compare(ir.OpGt, read(stubs.Duration, 2), word(stubs.Duration, uint64(time.Millisecond))))),
			verdict(stubs.Switch, 0), verdict(stubs.Continue, 0)),
	}
)

// BenchmarkEval measures one evaluation, including writing the snapshot.
func BenchmarkEval(b *testing.B) {
	for _, c := range []struct {
		name     string
		program  *ir.Program
		snapshot []uint64
	}{
		{"regex", regexLimit, []uint64{uint64(stubs.Intern("regex.match")), uint64(50 * time.Millisecond)}},
		{"hol", headOfLine, []uint64{2, uint64(stubs.Kinds[1]), uint64(2 * time.Millisecond)}},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkEval(b, c.program, c.snapshot) })
	}
}

func benchmarkEval(b *testing.B, p *ir.Program, snapshot []uint64) {
	e := evaluator(b, p)
	b.ReportAllocs()
	for b.Loop() {
		copy(e.Snapshot(), snapshot)
		if _, err := e.Eval(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExpr measures the same with expr's virtual machine, reused, over a struct. The limits
// are fields, because expr would otherwise parse duration("100ms") in every run.
func BenchmarkExpr(b *testing.B) {
	type task struct {
		Section string        `expr:"section"`
		Running time.Duration `expr:"running"`
		Kind    string        `expr:"kind"`
	}
	type env struct {
		Task  task          `expr:"task"`
		Safe  int           `expr:"safe"`
		Limit time.Duration `expr:"limit"`
	}
	for _, c := range []struct{ name, text string }{
		{"regex", `task.section == "regex.match" && task.running > limit ? 1 : 0`},
		{"hol", `safe > 0 && task.kind == "preemptible" && task.running > limit ? 2 : 0`},
	} {
		b.Run(c.name, func(b *testing.B) {
			program, err := expr.Compile(c.text, expr.Env(&env{}))
			if err != nil {
				b.Fatal(err)
			}
			var machine vm.VM
			e := &env{}
			b.ReportAllocs()
			for b.Loop() {
				*e = env{Task: task{"regex.match", 50 * time.Millisecond, "preemptible"}, Safe: 2, Limit: time.Millisecond}
				if _, err := machine.Run(program, e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkInterpret measures the reference interpreter.
func BenchmarkInterpret(b *testing.B) {
	snapshot := []uint64{2, uint64(stubs.Kinds[1]), uint64(2 * time.Millisecond)}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := ir.Interpret(headOfLine, snapshot); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompile measures the translation of a policy from IR to machine code,
// BenchmarkNewEvaluator the creation of an instance.
func BenchmarkCompile(b *testing.B) {
	s := engines(b)[0]
	for b.Loop() {
		m, err := s.compile(headOfLine)
		if err != nil {
			b.Fatal(err)
		}
		m.Close()
	}
}

func BenchmarkNewEvaluator(b *testing.B) {
	m, err := engines(b)[0].compile(headOfLine)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		e, err := m.NewEvaluator()
		if err != nil {
			b.Fatal(err)
		}
		e.Close()
	}
}

// BenchmarkStep measures a step of the cost table, by kind of operation: a chain of eight
// operations for each of a thousand elements of a range, all executed.
func BenchmarkStep(b *testing.B) {
	i, half := local(stubs.Int, 0), read(stubs.Float, 1)
	chain := func(op ir.Op, first, operand *ir.Node) *ir.Node {
		for range 8 {
			first = operation(op, first.Type, first, operand)
		}
		return compare(ir.OpNe, first, first)
	}
	converted := half
	truth := compare(ir.OpGt, i, integer(0))
	for range 8 {
		converted = operation(ir.OpFloat, stubs.Float, operation(ir.OpInt, stubs.Int, converted))
		truth = choose(both(compare(ir.OpGt, i, integer(0)), truth), compare(ir.OpGt, i, integer(0)), word(stubs.Bool, 0))
	}
	for _, c := range []struct {
		name  string
		value *ir.Node
	}{
		{"add", chain(ir.OpAdd, i, i)},
		{"mul", chain(ir.OpMul, i, read(stubs.Int, 0))},
		{"mul64", chain(ir.OpMul, operation(ir.OpAdd, stubs.Int, i, integer(1<<40)), read(stubs.Int, 0))},
		{"div", chain(ir.OpDiv, integer(1<<62), i)},
		{"mod", chain(ir.OpMod, integer(1<<62-1), operation(ir.OpAdd, stubs.Int, i, integer(1<<31)))},
		{"float", chain(ir.OpDiv, half, half)},
		{"convert", compare(ir.OpEq, converted, converted)},
		{"if", truth},
		{"element", compare(ir.OpGt, i, integer(0))},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkStep(b, c.value) })
	}
}

func benchmarkStep(b *testing.B, predicate *ir.Node) {
	count := quantifier(ir.OpCount, ir.Source{Lo: 1, Hi: 1000}, 0, predicate)
	p := &ir.Program{
		Root:  then(effect(0, count), verdict(stubs.Continue, 0)),
		Words: 2, Locals: []stubs.Type{stubs.Int}, Sites: []ir.Site{{}},
	}
	snapshot := []uint64{1, math.Float64bits(0.5)}
	_, steps, err := ir.Interpret(p, snapshot)
	if err != nil {
		b.Fatal(err)
	}
	e := evaluator(b, p)
	copy(e.Snapshot(), snapshot)
	for b.Loop() {
		if _, err := e.Eval(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(steps), "ns/step")
}

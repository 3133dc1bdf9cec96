package isolate

import (
	"math"
	"testing"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// The two policies of the paper, written by hand: a time limit on a section, and a switch when a
// safe task waits.
var (
	regexLimit = &policy.Program{
		Words: 2, Reasons: []string{"regex took too long"},
		Root: choose(both(compare(policy.OpEq, read(stubs.Name, 0), word(stubs.Name, uint64(stubs.Intern("regex.match")))),
			compare(policy.OpGt, read(stubs.Duration, 1), word(stubs.Duration, uint64(100*time.Millisecond)))),
			verdict(stubs.Throw, 0), verdict(stubs.Continue, 0)),
	}
	headOfLine = &policy.Program{
		Words: 3,
		Root: choose(both(compare(policy.OpGt, read(stubs.Int, 0), word(stubs.Int, 0)),
			both(compare(policy.OpEq, read(stubs.Name, 1), word(stubs.Name, uint64(stubs.Kinds[1]))),
				compare(policy.OpGt, read(stubs.Duration, 2), word(stubs.Duration, uint64(time.Millisecond))))),
			verdict(stubs.Switch, 0), verdict(stubs.Continue, 0)),
	}
)

// BenchmarkEval measures one evaluation, including writing the snapshot.
func BenchmarkEval(b *testing.B) {
	for _, c := range []struct {
		name     string
		program  *policy.Program
		snapshot []uint64
	}{
		{"regex", regexLimit, []uint64{uint64(stubs.Intern("regex.match")), uint64(50 * time.Millisecond)}},
		{"hol", headOfLine, []uint64{2, uint64(stubs.Kinds[1]), uint64(2 * time.Millisecond)}},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkEval(b, c.program, c.snapshot) })
	}
}

func benchmarkEval(b *testing.B, p *policy.Program, snapshot []uint64) {
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
		if _, _, err := policy.Interpret(headOfLine, snapshot); err != nil {
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
	chain := func(op policy.Op, first, operand *policy.Node) *policy.Node {
		for range 8 {
			first = operation(op, first.Type, first, operand)
		}
		return compare(policy.OpNe, first, first)
	}
	converted := half
	truth := compare(policy.OpGt, i, integer(0))
	for range 8 {
		converted = operation(policy.OpFloat, stubs.Float, operation(policy.OpInt, stubs.Int, converted))
		truth = choose(both(compare(policy.OpGt, i, integer(0)), truth), compare(policy.OpGt, i, integer(0)), word(stubs.Bool, 0))
	}
	for _, c := range []struct {
		name  string
		value *policy.Node
	}{
		{"add", chain(policy.OpAdd, i, i)},
		{"mul", chain(policy.OpMul, i, read(stubs.Int, 0))},
		{"mul64", chain(policy.OpMul, operation(policy.OpAdd, stubs.Int, i, integer(1<<40)), read(stubs.Int, 0))},
		{"div", chain(policy.OpDiv, integer(1<<62), i)},
		{"mod", chain(policy.OpMod, integer(1<<62-1), operation(policy.OpAdd, stubs.Int, i, integer(1<<31)))},
		{"float", chain(policy.OpDiv, half, half)},
		{"convert", compare(policy.OpEq, converted, converted)},
		{"if", truth},
		{"element", compare(policy.OpGt, i, integer(0))},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkStep(b, c.value) })
	}
}

func benchmarkStep(b *testing.B, predicate *policy.Node) {
	count := quantifier(policy.OpCount, policy.Source{Lo: 1, Hi: 1000}, 0, predicate)
	p := &policy.Program{
		Root:  then(effect(0, count), verdict(stubs.Continue, 0)),
		Words: 2, Locals: []stubs.Type{stubs.Int}, Sites: []policy.Site{{}},
	}
	snapshot := []uint64{1, math.Float64bits(0.5)}
	_, steps, err := policy.Interpret(p, snapshot)
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

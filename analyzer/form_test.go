package analyzer

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/stubs"
)

// sample is a well-formed program that uses everything, for hostile changes.
func sample(t testing.TB) *ir.Program {
	p, err := lang.Parse(`set("i", count(task.stack, # == "a")); let x = 2 * task.running; let y = x > duration("1s");
		any(1..3, # > queue.length) and not y ? throw("slow") : float(queue.length) > 0.5 ? switch() : continue()`, testEnv)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// find returns the first node with the operation.
func find(n *ir.Node, op ir.Op) *ir.Node {
	if n == nil || n.Op == op {
		return n
	}
	for _, operand := range []*ir.Node{n.A, n.B, n.C} {
		if found := find(operand, op); found != nil {
			return found
		}
	}
	return nil
}

func TestMalformed(t *testing.T) {
	if _, err := Verify(sample(t), Limits{}); err != nil {
		t.Fatalf("the sample is refused: %v", err)
	}
	at := func(op ir.Op, change func(n *ir.Node)) func(*ir.Program) {
		return func(p *ir.Program) { change(find(p.Root, op)) }
	}
	for _, test := range []struct {
		want   string
		change func(p *ir.Program)
	}{
		{"there is no program", func(p *ir.Program) { p.Root = nil }},
		{"not a set of notifications", func(p *ir.Program) { p.On = 0 }},
		{"not a set of notifications", func(p *ir.Program) { p.On = 1 << 15 }},
		{"a snapshot of -1 words", func(p *ir.Program) { p.Words = -1 }},
		{"a snapshot of 1000000 words", func(p *ir.Program) { p.Words = 1e6 }},
		{"words at", func(p *ir.Program) { p.Words-- }},
		{"5000 reads", func(p *ir.Program) { p.Reads = make([]ir.Read, 5000) }},
		{"overlaps another", func(p *ir.Program) { p.Reads[1].Offset = 0 }},
		{"words at", func(p *ir.Program) { p.Reads[1].Offset = -1 }},
		{"words at", func(p *ir.Program) { p.Reads[1].Offset = math.MaxInt }},
		{"words at", func(p *ir.Program) { p.Reads[1].Words = math.MaxInt }},
		{"there is no state stub 200", func(p *ir.Program) { p.Reads[1].Stub = 200 }},
		{"task.stack takes 3 words", func(p *ir.Program) { p.Reads[0].Words = 3 }},
		{"is read as a bool", func(p *ir.Program) { p.Reads[1].Type = stubs.Bool }},
		{"is read with a key", func(p *ir.Program) { p.Reads[1].Key = "k" }},
		{"is compared with a pattern", func(p *ir.Program) { p.Reads[1].Pattern = "k*" }},
		{"task.name is read as a name; it is a bool", func(p *ir.Program) {
			p.Reads[1] = ir.Read{Stub: stubs.TaskName, Pattern: "k*", Type: stubs.Name}
		}},
		{"cannot be taken of", func(p *ir.Program) { p.Reads[1].Taken = ir.TakenFloat + 1 }},
		{"task.running has no text", func(p *ir.Program) { p.Reads[1].Taken = ir.TakenHash }},
		{"cannot be taken of", func(p *ir.Program) {
			p.Reads[1] = ir.Read{Stub: stubs.TaskName, Pattern: "k*", Taken: ir.TakenInt, Type: stubs.Int}
		}},
		{"task.name is read as a int; it is a float", func(p *ir.Program) {
			p.Reads[1] = ir.Read{Stub: stubs.TaskName, Taken: ir.TakenFloat, Type: stubs.Int}
		}},
		{"the draw \"\" is a float", func(p *ir.Program) { p.Reads[1] = ir.Read{Stub: stubs.Draw, Type: stubs.Float} }},
		{"task.kind is compared with a pattern", func(p *ir.Program) {
			p.Reads[1] = ir.Read{Stub: stubs.TaskKind, Pattern: "k*", Type: stubs.Bool}
		}},
		{"task.sections is read with a key", func(p *ir.Program) {
			p.Reads[1] = ir.Read{Stub: stubs.TaskSections, Key: "k", Pattern: "k*", Type: stubs.Duration}
		}},
		{"arriving.name is not there on tick", func(p *ir.Program) { p.Reads[1] = ir.Read{Stub: stubs.ArrivingName, Type: stubs.Name} }},
		{"has the quantile 1", func(p *ir.Program) {
			p.Reads[1] = ir.Read{Stub: stubs.QueueWait, Quantile: 1, Window: ir.MinWindow, Type: stubs.Duration}
		}},
		{"a list repeats a constant at [3 2]", func(p *ir.Program) { p.Repeats = [][2]int{{3, 2}} }},
		{"a list repeats a constant at [0 1000]", func(p *ir.Program) { p.Repeats = [][2]int{{0, 1000}} }},
		{"has the quantile NaN", func(p *ir.Program) {
			p.Reads[1] = ir.Read{Stub: stubs.QueueWait, Quantile: math.NaN(), Window: ir.MinWindow, Type: stubs.Duration}
		}},
		{"has the quantile 0", func(p *ir.Program) {
			p.Reads[1] = ir.Read{Stub: stubs.QueueWait, Window: ir.MinWindow, Type: stubs.Duration}
		}},
		{"has the quantile 0.5", func(p *ir.Program) { p.Reads[1].Quantile = 0.5 }},
		{"has the window 1ns", func(p *ir.Program) {
			p.Reads[1] = ir.Read{Stub: stubs.StateRate, Key: "n", Window: 1, Type: stubs.Float}
		}},
		{"has the window 1000h0m0s", func(p *ir.Program) {
			p.Reads[1] = ir.Read{Stub: stubs.ClassWait, Quantile: 0.5, Window: 1000 * time.Hour, Type: stubs.Duration}
		}},
		{"has the window 10ms", func(p *ir.Program) { p.Reads[1].Window = ir.MinWindow }},
		{"the state \"n\" has the type int", func(p *ir.Program) {
			p.Reads[1] = ir.Read{Stub: stubs.StateRate, Key: "n", Window: ir.MinWindow, Type: stubs.Int}
		}},
		{"the state \"n\" has the type bool", func(p *ir.Program) {
			p.Reads[1] = ir.Read{Stub: stubs.StateAverage, Key: "n", Window: ir.MinWindow, Type: stubs.Bool}
		}},
		{"the state \"\"", func(p *ir.Program) { p.Reads[1].Stub = stubs.State }},
		{"has the type list of names", func(p *ir.Program) { p.Locals[0] = stubs.NameList }},
		{"unknown kind", func(p *ir.Program) { p.Sites[0].Effect = 77 }},
		{"has an operand of type int", func(p *ir.Program) { p.Sites[0].Effect = stubs.Cancel }},
		{"has an operand of type int", func(p *ir.Program) { p.Sites[0].Effect = stubs.Interval }},
		{"has an operand of type verdict", func(p *ir.Program) { p.Sites[0].Type = stubs.Verdict }},
		{"has no task to act on on tick", func(p *ir.Program) { p.Sites[0].Effect = stubs.Rank }},
		{"background, has no task to act on on exit", func(p *ir.Program) { p.On, p.Sites[0].Effect = stubs.Exit, stubs.Background }},
		{"background, has no task to act on on tick+enqueue", func(p *ir.Program) { p.On, p.Sites[0].Effect = stubs.Tick|stubs.Enqueue, stubs.Background }},
		{"background, has an operand of type int", func(p *ir.Program) { p.On, p.Sites[0].Effect = stubs.Enqueue, stubs.Background }},
		{"rank, has an operand of type float", func(p *ir.Program) {
			p.On, p.Sites[0] = stubs.Enqueue, ir.Site{Effect: stubs.Rank, Type: stubs.Float}
		}},
		{"rank, has an operand of type unit", func(p *ir.Program) {
			p.On, p.Sites[0] = stubs.Enqueue, ir.Site{Effect: stubs.Rank, Type: stubs.Unit}
		}},
		{"has no name", func(p *ir.Program) { p.Sites[0].Name = "" }},
		{"65 effects", func(p *ir.Program) { p.Sites = make([]ir.Site, 65) }},
		{"site 0 of 0", func(p *ir.Program) { p.Sites = nil }},

		{"two parents", at(ir.OpAnd, func(n *ir.Node) { n.A = n.B })},
		{"two parents", func(p *ir.Program) { find(p.Root, ir.OpAnd).B = p.Root }},
		{"two parents", func(p *ir.Program) { p.Root.B = p.Root }},
		{"an operand is missing", at(ir.OpAnd, func(n *ir.Node) { n.B = nil })},
		{"an operand is missing", at(ir.OpIf, func(n *ir.Node) { n.C = nil })},
		{"an operand is missing", at(ir.OpGt, func(n *ir.Node) { n.A = nil })},
		{"an operand is missing", at(ir.OpEffect, func(n *ir.Node) { n.A = nil })},
		{"too many operands", at(ir.OpNot, func(n *ir.Node) { n.B = literal(stubs.Bool, 1) })},
		{"too many operands", at(ir.OpRead, func(n *ir.Node) { n.A = literal(stubs.Bool, 1) })},
		{"too many operands", at(ir.OpLet, func(n *ir.Node) { n.C = literal(stubs.Bool, 1) })},
		{"too many operands", at(ir.OpSeq, func(n *ir.Node) { n.C = literal(stubs.Bool, 1) })},
		{"where a duration belongs", at(ir.OpVerdict, func(n *ir.Node) { n.A = literal(stubs.Bool, 1) })},
		{"has no operands", at(ir.OpVerdict, func(n *ir.Node) { n.B = literal(stubs.Duration, 1) })},
		{"has no operands", at(ir.OpVerdict, func(n *ir.Node) { n.Imm, n.A = uint64(stubs.Switch), literal(stubs.Duration, 1) })},
		{"no such place", at(ir.OpAnd, func(n *ir.Node) { n.Pos = -1 })},
		{"no such place", at(ir.OpAnd, func(n *ir.Node) { n.End = 1e6 })},
		{"no operation with a value", at(ir.OpAnd, func(n *ir.Node) { n.Op = 250 })},
		{"not a statement", func(p *ir.Program) { p.Root.Op = 250 }},
		{"not a statement", at(ir.OpEffect, func(n *ir.Node) { n.Op = ir.OpConst })},
		{"a bool where a verdict belongs", func(p *ir.Program) { p.Root = literal(stubs.Bool, 1) }},
		{"no verdict", at(ir.OpVerdict, func(n *ir.Node) { n.Imm = 3 })},
		{"reason 0 of 0", func(p *ir.Program) { p.Reasons = nil }},
		{"reason -1 of 1", at(ir.OpVerdict, func(n *ir.Node) { n.Index = -1 })},
		{"0x2 is no bool", func(p *ir.Program) { find(p.Root, ir.OpAnd).B = literal(stubs.Bool, 2) }},
		{"is read at word 99", func(p *ir.Program) { find(find(p.Root, ir.OpLet), ir.OpRead).Index = 99 }},
		{"no list of 99 names", at(ir.OpCount, func(n *ir.Node) { n.Source.Max = 99 })},
		{"no list of 16 names", at(ir.OpCount, func(n *ir.Node) { n.Source.Offset = 17 })},
		{"elements are ints", at(ir.OpCount, func(n *ir.Node) { n.Source.List = false })},
		{"the range has 9223372036854775807 elements", at(ir.OpAny, func(n *ir.Node) { n.Source.Lo, n.Source.Hi = math.MinInt64, math.MaxInt64 })},
		{"no quantifier", at(ir.OpAny, func(n *ir.Node) { n.A = literal(stubs.Bool, 1) })},
		{"local -1 of", at(ir.OpLet, func(n *ir.Node) { n.Index = -1 })},
		{"local 99 of", at(ir.OpLet, func(n *ir.Node) { n.Index = 99 })},
		{"used outside its scope", at(ir.OpLocal, func(n *ir.Node) { n.Index = 2 })},
		{"used outside its scope", at(ir.OpLocal, func(n *ir.Node) { n.Index = -2 })},
		{"is bound twice", func(p *ir.Program) { let := find(p.Root, ir.OpLet); let.B.Index = let.Index }},
		{"do not make a bool", at(ir.OpGt, func(n *ir.Node) { n.A.Type = stubs.Name })},
		{"where a bool belongs", at(ir.OpNot, func(n *ir.Node) { n.A = literal(stubs.Int, 1) })},
		{"do not make a int", at(ir.OpCount, func(n *ir.Node) { *n = *operation(ir.OpNot, stubs.Int, literal(stubs.Bool, 1)) })},
		{"an effect without operand has one", func(p *ir.Program) { p.Sites[0] = ir.Site{Effect: stubs.Cancel, Type: stubs.Unit} }},
		{"set 9 of 1", func(p *ir.Program) {
			p.Sets = []ir.Set{{Type: stubs.Int, Words: []uint64{1}}}
			in := find(p.Root, ir.OpNot)
			in.Op, in.Index = ir.OpIn, 9
		}},
		{"is not sorted", func(p *ir.Program) { p.Sets = []ir.Set{{Type: stubs.Int, Words: []uint64{2, 1}}} }},
		{"constants of type", func(p *ir.Program) { p.Sets = []ir.Set{{Type: stubs.Float, Words: []uint64{1}}} }},
		{"more than 16384 constants", func(p *ir.Program) {
			p.Sets = []ir.Set{{Type: stubs.Int, Words: make([]uint64, lang.MaxConstants+1)}}
		}},
		{"effect 0 is written twice", func(p *ir.Program) {
			again := copyOf(p.Root.A)
			p.Locals = append(p.Locals, stubs.Name)
			find(again, ir.OpCount).Index = len(p.Locals) - 1
			find(again, ir.OpLocal).Index = len(p.Locals) - 1
			p.Root = operation(ir.OpSeq, stubs.Verdict, again, p.Root)
		}},
		{"no operation with a value", at(ir.OpAnd, func(n *ir.Node) { // an effect inside a condition
			*n = *operation(ir.OpSeq, stubs.Bool, operation(ir.OpEffect, stubs.Unit), literal(stubs.Bool, 1))
		})},
	} {
		p := sample(t)
		test.change(p)
		v, err := Verify(p, Limits{})
		if err == nil || !strings.Contains(err.Error(), test.want) || v.Program() != nil {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
		var pe *ir.Error
		if !errors.Is(err, ErrMalformed) && !errors.As(err, &pe) {
			t.Errorf("%v is neither malformed nor a *policy.Error", err)
		}
	}
	if _, err := Verify(nil, Limits{}); !errors.Is(err, ErrMalformed) {
		t.Errorf("nil: %v", err)
	}
}

// Whatever is changed in a program, Verify returns, and what it accepts the interpreter can run.
func TestMutatedPrograms(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	accepted := 0
	for range longtest.Count(5000, 700) {
		p := sample(t)
		for range 1 + rng.IntN(2) {
			mutate(rng, p)
		}
		v, err := Verify(p, Limits{})
		if err != nil {
			continue
		}
		accepted++
		if _, steps, err := ir.Interpret(p, make([]uint64, p.Words)); steps > v.Cost() {
			t.Fatalf("%d steps of %d: %v\n%s", steps, v.Cost(), err, show(p.Root))
		}
	}
	if accepted == 0 {
		t.Error("no mutant was accepted")
	}
}

func mutate(rng *rand.Rand, p *ir.Program) {
	var nodes []*ir.Node
	var visit func(n *ir.Node, depth int)
	visit = func(n *ir.Node, depth int) {
		if n != nil && depth < 50 && len(nodes) < 200 {
			nodes = append(nodes, n)
			visit(n.A, depth+1)
			visit(n.B, depth+1)
			visit(n.C, depth+1)
		}
	}
	visit(p.Root, 0)
	n, other := nodes[rng.IntN(len(nodes))], nodes[rng.IntN(len(nodes))]
	switch rng.IntN(9) {
	case 0:
		n.Op = ir.Op(rng.IntN(32))
	case 1:
		n.Type = stubs.Type(rng.IntN(11))
	case 2:
		n.Index = rng.IntN(25) - 2
	case 3:
		n.Imm = rng.Uint64()
	case 4:
		n.A, n.B = n.B, n.A
	case 5:
		*n = *other
	case 6:
		n.B = other
	case 7:
		n.C = nil
	case 8:
		n.Source = ir.Source{List: rng.IntN(2) == 0, Offset: rng.IntN(20), Max: 16, Lo: -int64(rng.IntN(5)), Hi: int64(rng.IntN(1 << 20))}
	}
}

// deep is a chain of nested operations.
func deep(n int, wrap func(*ir.Node) *ir.Node) *ir.Program {
	cond := literal(stubs.Bool, 1)
	for range n {
		cond = wrap(cond)
	}
	verdict := func(d stubs.Decision) *ir.Node {
		return &ir.Node{Op: ir.OpVerdict, Type: stubs.Verdict, Imm: uint64(d)}
	}
	root := operation(ir.OpIf, stubs.Verdict, cond, verdict(stubs.Switch), verdict(stubs.Continue))
	return &ir.Program{On: stubs.Tick, Root: root}
}

// Verify's time and recursion are bounded whatever it is given, with the greatest limits.
func TestHostileSize(t *testing.T) {
	read := func() *ir.Node { return &ir.Node{Op: ir.OpRead, Type: stubs.Bool} }
	reads := []ir.Read{{Stub: stubs.TaskCancelled, Type: stubs.Bool, Words: 1}}
	alternate := 0
	nested := func(cond *ir.Node) *ir.Node {
		alternate++
		return operation(ir.OpAnd+ir.Op(alternate%2), stubs.Bool, cond, read())
	}
	chain := func() *ir.Program { // let l1 = l0 and l0; let l2 = l1 and l1; ...
		p := deep(0, nil)
		root := p.Root
		root.A = &ir.Node{Op: ir.OpLocal, Type: stubs.Bool, Index: 2999}
		for i := 2999; i >= 0; i-- {
			a := read()
			if i > 0 {
				local := func() *ir.Node { return &ir.Node{Op: ir.OpLocal, Type: stubs.Bool, Index: i - 1} }
				a = operation(ir.OpAnd+ir.Op(i%2), stubs.Bool, local(), operation(ir.OpNot, stubs.Bool, local()))
			}
			root = operation(ir.OpLet, stubs.Verdict, a, root)
			root.Index = i
			p.Locals = append(p.Locals, stubs.Bool)
		}
		p.Root = root
		return p
	}
	for name, p := range map[string]*ir.Program{
		"too deep":        deep(longtest.Count(1<<20, 1<<17), func(n *ir.Node) *ir.Node { return operation(ir.OpNot, stubs.Bool, n) }),
		"deep":            deep(maxDepth-10, func(n *ir.Node) *ir.Node { return operation(ir.OpNot, stubs.Bool, n) }),
		"alternating":     deep(longtest.Count(maxDepth-10, 700), nested),
		"nested choices":  deep(longtest.Count(4000, 800), func(n *ir.Node) *ir.Node { return operation(ir.OpIf, stubs.Bool, n, read(), read()) }),
		"equal to itself": deep(longtest.Count(4000, 600), func(n *ir.Node) *ir.Node { return operation(ir.OpEq, stubs.Bool, n, read()) }),
		"chain of lets":   chain(),
		"wide": deep(10, func(n *ir.Node) *ir.Node {
			return operation(ir.OpAnd, stubs.Bool, n, copyOf(n))
		}),
		"too wide": deep(17, func(n *ir.Node) *ir.Node {
			return operation(ir.OpOr, stubs.Bool, n, copyOf(n))
		}),
	} {
		p.Reads, p.Words = reads, 1
		start := time.Now()
		if _, err := Verify(p, Limits{}); err == nil && name != "chain of lets" && name != "deep" {
			t.Errorf("%s: accepted", name)
		}
		_, err := Verify(p, Limits{Cost: math.MaxInt})
		if d := time.Since(start); d > 20*time.Second { // a second at most on an idle machine without the race detector
			t.Errorf("%s: %v", name, d)
		}
		if tooMuch := strings.HasPrefix(name, "too"); tooMuch != errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %v, %v", name, time.Since(start), err)
	}
}

package analyzer

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// sample is a well-formed program that uses everything, for hostile changes.
func sample(t testing.TB) *policy.Program {
	p, err := policy.Parse(`set("i", count(task.stack, # == "a")); let x = 2 * task.running; let y = x > duration("1s");
		any(1..3, # > queue.length) and not y ? throw("slow") : float(queue.length) > 0.5 ? switch() : continue()`, testEnv)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// find returns the first node with the operation.
func find(n *policy.Node, op policy.Op) *policy.Node {
	if n == nil || n.Op == op {
		return n
	}
	for _, operand := range []*policy.Node{n.A, n.B, n.C} {
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
	at := func(op policy.Op, change func(n *policy.Node)) func(*policy.Program) {
		return func(p *policy.Program) { change(find(p.Root, op)) }
	}
	for _, test := range []struct {
		want   string
		change func(p *policy.Program)
	}{
		{"there is no program", func(p *policy.Program) { p.Root = nil }},
		{"no set of notifications", func(p *policy.Program) { p.On = 0 }},
		{"no set of notifications", func(p *policy.Program) { p.On = 1 << 15 }},
		{"a snapshot of -1 words", func(p *policy.Program) { p.Words = -1 }},
		{"a snapshot of 1000000 words", func(p *policy.Program) { p.Words = 1e6 }},
		{"words at", func(p *policy.Program) { p.Words-- }},
		{"5000 reads", func(p *policy.Program) { p.Reads = make([]policy.Read, 5000) }},
		{"overlaps another", func(p *policy.Program) { p.Reads[1].Offset = 0 }},
		{"words at", func(p *policy.Program) { p.Reads[1].Offset = -1 }},
		{"words at", func(p *policy.Program) { p.Reads[1].Offset = math.MaxInt }},
		{"words at", func(p *policy.Program) { p.Reads[1].Words = math.MaxInt }},
		{"there is no state stub 200", func(p *policy.Program) { p.Reads[1].Stub = 200 }},
		{"task.stack takes 3 words", func(p *policy.Program) { p.Reads[0].Words = 3 }},
		{"is read as a bool", func(p *policy.Program) { p.Reads[1].Type = stubs.Bool }},
		{"is read with a key", func(p *policy.Program) { p.Reads[1].Key = "k" }},
		{"is compared with a pattern", func(p *policy.Program) { p.Reads[1].Pattern = "k*" }},
		{"task.name is read as a name; it is a bool", func(p *policy.Program) {
			p.Reads[1] = policy.Read{Stub: stubs.TaskName, Pattern: "k*", Type: stubs.Name}
		}},
		{"cannot be taken of", func(p *policy.Program) { p.Reads[1].Taken = policy.TakenFloat + 1 }},
		{"task.running has no text", func(p *policy.Program) { p.Reads[1].Taken = policy.TakenHash }},
		{"cannot be taken of", func(p *policy.Program) {
			p.Reads[1] = policy.Read{Stub: stubs.TaskName, Pattern: "k*", Taken: policy.TakenInt, Type: stubs.Int}
		}},
		{"task.name is read as a int; it is a float", func(p *policy.Program) {
			p.Reads[1] = policy.Read{Stub: stubs.TaskName, Taken: policy.TakenFloat, Type: stubs.Int}
		}},
		{"the draw \"\" is a float", func(p *policy.Program) { p.Reads[1] = policy.Read{Stub: stubs.Draw, Type: stubs.Float} }},
		{"task.kind is compared with a pattern", func(p *policy.Program) {
			p.Reads[1] = policy.Read{Stub: stubs.TaskKind, Pattern: "k*", Type: stubs.Bool}
		}},
		{"task.sections is read with a key", func(p *policy.Program) {
			p.Reads[1] = policy.Read{Stub: stubs.TaskSections, Key: "k", Pattern: "k*", Type: stubs.Duration}
		}},
		{"arriving.name is not there on tick", func(p *policy.Program) { p.Reads[1] = policy.Read{Stub: stubs.ArrivingName, Type: stubs.Name} }},
		{"has the quantile 1", func(p *policy.Program) {
			p.Reads[1] = policy.Read{Stub: stubs.QueueWait, Quantile: 1, Window: policy.MinWindow, Type: stubs.Duration}
		}},
		{"a list repeats a constant at [3 2]", func(p *policy.Program) { p.Repeats = [][2]int{{3, 2}} }},
		{"a list repeats a constant at [0 1000]", func(p *policy.Program) { p.Repeats = [][2]int{{0, 1000}} }},
		{"has the quantile NaN", func(p *policy.Program) {
			p.Reads[1] = policy.Read{Stub: stubs.QueueWait, Quantile: math.NaN(), Window: policy.MinWindow, Type: stubs.Duration}
		}},
		{"has the quantile 0", func(p *policy.Program) {
			p.Reads[1] = policy.Read{Stub: stubs.QueueWait, Window: policy.MinWindow, Type: stubs.Duration}
		}},
		{"has the quantile 0.5", func(p *policy.Program) { p.Reads[1].Quantile = 0.5 }},
		{"has the window 1ns", func(p *policy.Program) {
			p.Reads[1] = policy.Read{Stub: stubs.StateRate, Key: "n", Window: 1, Type: stubs.Float}
		}},
		{"has the window 1000h0m0s", func(p *policy.Program) {
			p.Reads[1] = policy.Read{Stub: stubs.ClassWait, Quantile: 0.5, Window: 1000 * time.Hour, Type: stubs.Duration}
		}},
		{"has the window 10ms", func(p *policy.Program) { p.Reads[1].Window = policy.MinWindow }},
		{"the state \"n\" has the type int", func(p *policy.Program) {
			p.Reads[1] = policy.Read{Stub: stubs.StateRate, Key: "n", Window: policy.MinWindow, Type: stubs.Int}
		}},
		{"the state \"n\" has the type bool", func(p *policy.Program) {
			p.Reads[1] = policy.Read{Stub: stubs.StateAverage, Key: "n", Window: policy.MinWindow, Type: stubs.Bool}
		}},
		{"the state \"\"", func(p *policy.Program) { p.Reads[1].Stub = stubs.State }},
		{"has the type list of names", func(p *policy.Program) { p.Locals[0] = stubs.NameList }},
		{"unknown kind", func(p *policy.Program) { p.Sites[0].Effect = 77 }},
		{"has an operand of type int", func(p *policy.Program) { p.Sites[0].Effect = stubs.Cancel }},
		{"has an operand of type int", func(p *policy.Program) { p.Sites[0].Effect = stubs.Interval }},
		{"has an operand of type verdict", func(p *policy.Program) { p.Sites[0].Type = stubs.Verdict }},
		{"has no task to act on on tick", func(p *policy.Program) { p.Sites[0].Effect = stubs.Rank }},
		{"background, has no task to act on on exit", func(p *policy.Program) { p.On, p.Sites[0].Effect = stubs.Exit, stubs.Background }},
		{"background, has no task to act on on tick+enqueue", func(p *policy.Program) { p.On, p.Sites[0].Effect = stubs.Tick|stubs.Enqueue, stubs.Background }},
		{"background, has an operand of type int", func(p *policy.Program) { p.On, p.Sites[0].Effect = stubs.Enqueue, stubs.Background }},
		{"rank, has an operand of type float", func(p *policy.Program) {
			p.On, p.Sites[0] = stubs.Enqueue, policy.Site{Effect: stubs.Rank, Type: stubs.Float}
		}},
		{"rank, has an operand of type unit", func(p *policy.Program) {
			p.On, p.Sites[0] = stubs.Enqueue, policy.Site{Effect: stubs.Rank, Type: stubs.Unit}
		}},
		{"has no name", func(p *policy.Program) { p.Sites[0].Name = "" }},
		{"65 effects", func(p *policy.Program) { p.Sites = make([]policy.Site, 65) }},
		{"site 0 of 0", func(p *policy.Program) { p.Sites = nil }},

		{"two parents", at(policy.OpAnd, func(n *policy.Node) { n.A = n.B })},
		{"two parents", func(p *policy.Program) { find(p.Root, policy.OpAnd).B = p.Root }},
		{"two parents", func(p *policy.Program) { p.Root.B = p.Root }},
		{"an operand is missing", at(policy.OpAnd, func(n *policy.Node) { n.B = nil })},
		{"an operand is missing", at(policy.OpIf, func(n *policy.Node) { n.C = nil })},
		{"an operand is missing", at(policy.OpGt, func(n *policy.Node) { n.A = nil })},
		{"an operand is missing", at(policy.OpEffect, func(n *policy.Node) { n.A = nil })},
		{"too many operands", at(policy.OpNot, func(n *policy.Node) { n.B = literal(stubs.Bool, 1) })},
		{"too many operands", at(policy.OpRead, func(n *policy.Node) { n.A = literal(stubs.Bool, 1) })},
		{"too many operands", at(policy.OpLet, func(n *policy.Node) { n.C = literal(stubs.Bool, 1) })},
		{"too many operands", at(policy.OpSeq, func(n *policy.Node) { n.C = literal(stubs.Bool, 1) })},
		{"where a duration belongs", at(policy.OpVerdict, func(n *policy.Node) { n.A = literal(stubs.Bool, 1) })},
		{"has no operands", at(policy.OpVerdict, func(n *policy.Node) { n.B = literal(stubs.Duration, 1) })},
		{"has no operands", at(policy.OpVerdict, func(n *policy.Node) { n.Imm, n.A = uint64(stubs.Switch), literal(stubs.Duration, 1) })},
		{"no such place", at(policy.OpAnd, func(n *policy.Node) { n.Pos = -1 })},
		{"no such place", at(policy.OpAnd, func(n *policy.Node) { n.End = 1e6 })},
		{"no operation with a value", at(policy.OpAnd, func(n *policy.Node) { n.Op = 250 })},
		{"not a statement", func(p *policy.Program) { p.Root.Op = 250 }},
		{"not a statement", at(policy.OpEffect, func(n *policy.Node) { n.Op = policy.OpConst })},
		{"a bool where a verdict belongs", func(p *policy.Program) { p.Root = literal(stubs.Bool, 1) }},
		{"no verdict", at(policy.OpVerdict, func(n *policy.Node) { n.Imm = 3 })},
		{"reason 0 of 0", func(p *policy.Program) { p.Reasons = nil }},
		{"reason -1 of 1", at(policy.OpVerdict, func(n *policy.Node) { n.Index = -1 })},
		{"0x2 is no bool", func(p *policy.Program) { find(p.Root, policy.OpAnd).B = literal(stubs.Bool, 2) }},
		{"is read at word 99", func(p *policy.Program) { find(find(p.Root, policy.OpLet), policy.OpRead).Index = 99 }},
		{"no list of 99 names", at(policy.OpCount, func(n *policy.Node) { n.Source.Max = 99 })},
		{"no list of 16 names", at(policy.OpCount, func(n *policy.Node) { n.Source.Offset = 17 })},
		{"elements are ints", at(policy.OpCount, func(n *policy.Node) { n.Source.List = false })},
		{"the range has 9223372036854775807 elements", at(policy.OpAny, func(n *policy.Node) { n.Source.Lo, n.Source.Hi = math.MinInt64, math.MaxInt64 })},
		{"no quantifier", at(policy.OpAny, func(n *policy.Node) { n.A = literal(stubs.Bool, 1) })},
		{"local -1 of", at(policy.OpLet, func(n *policy.Node) { n.Index = -1 })},
		{"local 99 of", at(policy.OpLet, func(n *policy.Node) { n.Index = 99 })},
		{"used outside its scope", at(policy.OpLocal, func(n *policy.Node) { n.Index = 2 })},
		{"used outside its scope", at(policy.OpLocal, func(n *policy.Node) { n.Index = -2 })},
		{"is bound twice", func(p *policy.Program) { let := find(p.Root, policy.OpLet); let.B.Index = let.Index }},
		{"do not make a bool", at(policy.OpGt, func(n *policy.Node) { n.A.Type = stubs.Name })},
		{"where a bool belongs", at(policy.OpNot, func(n *policy.Node) { n.A = literal(stubs.Int, 1) })},
		{"do not make a int", at(policy.OpCount, func(n *policy.Node) { *n = *operation(policy.OpNot, stubs.Int, literal(stubs.Bool, 1)) })},
		{"an effect without operand has one", func(p *policy.Program) { p.Sites[0] = policy.Site{Effect: stubs.Cancel, Type: stubs.Unit} }},
		{"set 9 of 1", func(p *policy.Program) {
			p.Sets = []policy.Set{{Type: stubs.Int, Words: []uint64{1}}}
			in := find(p.Root, policy.OpNot)
			in.Op, in.Index = policy.OpIn, 9
		}},
		{"is not sorted", func(p *policy.Program) { p.Sets = []policy.Set{{Type: stubs.Int, Words: []uint64{2, 1}}} }},
		{"constants of type", func(p *policy.Program) { p.Sets = []policy.Set{{Type: stubs.Float, Words: []uint64{1}}} }},
		{"more than 16384 constants", func(p *policy.Program) {
			p.Sets = []policy.Set{{Type: stubs.Int, Words: make([]uint64, policy.MaxConstants+1)}}
		}},
		{"effect 0 is written twice", func(p *policy.Program) {
			again := copyOf(p.Root.A)
			p.Locals = append(p.Locals, stubs.Name)
			find(again, policy.OpCount).Index = len(p.Locals) - 1
			find(again, policy.OpLocal).Index = len(p.Locals) - 1
			p.Root = operation(policy.OpSeq, stubs.Verdict, again, p.Root)
		}},
		{"no operation with a value", at(policy.OpAnd, func(n *policy.Node) { // an effect inside a condition
			*n = *operation(policy.OpSeq, stubs.Bool, operation(policy.OpEffect, stubs.Unit), literal(stubs.Bool, 1))
		})},
	} {
		p := sample(t)
		test.change(p)
		v, err := Verify(p, Limits{})
		if err == nil || !strings.Contains(err.Error(), test.want) || v.Program() != nil {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
		var pe *policy.Error
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
	for range 5000 {
		p := sample(t)
		for range 1 + rng.IntN(2) {
			mutate(rng, p)
		}
		v, err := Verify(p, Limits{})
		if err != nil {
			continue
		}
		accepted++
		if _, steps, err := policy.Interpret(p, make([]uint64, p.Words)); steps > v.Cost() {
			t.Fatalf("%d steps of %d: %v\n%s", steps, v.Cost(), err, show(p.Root))
		}
	}
	if accepted == 0 {
		t.Error("no mutant was accepted")
	}
}

func mutate(rng *rand.Rand, p *policy.Program) {
	var nodes []*policy.Node
	var visit func(n *policy.Node, depth int)
	visit = func(n *policy.Node, depth int) {
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
		n.Op = policy.Op(rng.IntN(32))
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
		n.Source = policy.Source{List: rng.IntN(2) == 0, Offset: rng.IntN(20), Max: 16, Lo: -int64(rng.IntN(5)), Hi: int64(rng.IntN(1 << 20))}
	}
}

// deep is a chain of nested operations.
func deep(n int, wrap func(*policy.Node) *policy.Node) *policy.Program {
	cond := literal(stubs.Bool, 1)
	for range n {
		cond = wrap(cond)
	}
	verdict := func(d stubs.Decision) *policy.Node {
		return &policy.Node{Op: policy.OpVerdict, Type: stubs.Verdict, Imm: uint64(d)}
	}
	root := operation(policy.OpIf, stubs.Verdict, cond, verdict(stubs.Switch), verdict(stubs.Continue))
	return &policy.Program{On: stubs.Tick, Root: root}
}

// Verify's time and recursion are bounded whatever it is given, with the greatest limits.
func TestHostileSize(t *testing.T) {
	read := func() *policy.Node { return &policy.Node{Op: policy.OpRead, Type: stubs.Bool} }
	reads := []policy.Read{{Stub: stubs.TaskCancelled, Type: stubs.Bool, Words: 1}}
	alternate := 0
	nested := func(cond *policy.Node) *policy.Node {
		alternate++
		return operation(policy.OpAnd+policy.Op(alternate%2), stubs.Bool, cond, read())
	}
	chain := func() *policy.Program { // let l1 = l0 and l0; let l2 = l1 and l1; ...
		p := deep(0, nil)
		root := p.Root
		root.A = &policy.Node{Op: policy.OpLocal, Type: stubs.Bool, Index: 2999}
		for i := 2999; i >= 0; i-- {
			a := read()
			if i > 0 {
				local := func() *policy.Node { return &policy.Node{Op: policy.OpLocal, Type: stubs.Bool, Index: i - 1} }
				a = operation(policy.OpAnd+policy.Op(i%2), stubs.Bool, local(), operation(policy.OpNot, stubs.Bool, local()))
			}
			root = operation(policy.OpLet, stubs.Verdict, a, root)
			root.Index = i
			p.Locals = append(p.Locals, stubs.Bool)
		}
		p.Root = root
		return p
	}
	for name, p := range map[string]*policy.Program{
		"too deep":        deep(1<<20, func(n *policy.Node) *policy.Node { return operation(policy.OpNot, stubs.Bool, n) }),
		"deep":            deep(maxDepth-10, func(n *policy.Node) *policy.Node { return operation(policy.OpNot, stubs.Bool, n) }),
		"alternating":     deep(maxDepth-10, nested),
		"nested choices":  deep(4000, func(n *policy.Node) *policy.Node { return operation(policy.OpIf, stubs.Bool, n, read(), read()) }),
		"equal to itself": deep(4000, func(n *policy.Node) *policy.Node { return operation(policy.OpEq, stubs.Bool, n, read()) }),
		"chain of lets":   chain(),
		"wide": deep(10, func(n *policy.Node) *policy.Node {
			return operation(policy.OpAnd, stubs.Bool, n, copyOf(n))
		}),
		"too wide": deep(17, func(n *policy.Node) *policy.Node {
			return operation(policy.OpOr, stubs.Bool, n, copyOf(n))
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

package analyzer

import (
	"math"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// random makes well-formed programs whose conditions are about the same few stubs and small
// constants, so that they often imply or contradict each other: what the analysis reasons about.
// (The generator of package isolate makes wilder programs, to exercise the code generator.) Its
// decisions come from bytes, so that a fuzzer can mutate them; at their end all are 0, which makes
// what is smallest.
type random struct {
	data  []byte
	prog  ir.Program
	scope []int // locals in scope
	nodes int
	loops int // quantifiers around
}

func (r *random) below(n int) int {
	if len(r.data) == 0 {
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return int(b) % n
}

func pick[T any](r *random, from ...T) T { return from[r.below(len(from))] }

var randomStubs = []stubs.ID{
	stubs.TaskKind, stubs.TaskName, stubs.TaskCancelled, stubs.TaskRunning, stubs.TaskElapsed, stubs.TaskDeadline, stubs.TaskPriority,
	stubs.QueueLength, stubs.QueueOldest, stubs.LoopSlots, stubs.LoopBusy, stubs.LoopUtilization, stubs.RuntimeHeap, stubs.TaskStack,
	stubs.ClassBusy, stubs.ClassRunningMean, stubs.QueueCost, stubs.LoopRate,
}

var randomStates = []stubs.Type{stubs.Bool, stubs.Int, stubs.Float, stubs.Duration, stubs.Name}

var randomScalars = []stubs.Type{stubs.Bool, stubs.Int, stubs.Float, stubs.Duration, stubs.Bytes, stubs.Name}

// Buckets from which random programs take, and what they hold.
var randomBuckets = []string{"bucket", "other", "third"}

const randomBurst = 5

func randomProgram(r *random) *ir.Program {
	p := &r.prog
	p.On, p.Reasons = stubs.Enqueue, []string{"a", "b", "c"}
	add := func(read ir.Read) {
		read.Offset = p.Words
		p.Words += read.Words
		p.Reads = append(p.Reads, read)
	}
	for _, id := range randomStubs {
		read := ir.Read{Stub: id, Type: stubs.Catalogue[id].Type, Words: 1}
		if read.Type == stubs.NameList {
			read.Words += int(stubs.Catalogue[id].Max)
		}
		add(read)
	}
	add(ir.Read{Stub: stubs.TaskName, Pattern: "a*", Type: stubs.Bool, Words: 1})
	add(ir.Read{Stub: stubs.TaskLabels, Key: "k", Pattern: "*b", Type: stubs.Bool, Words: 1})
	add(ir.Read{Stub: stubs.TaskSections, Pattern: "json.*", Type: stubs.Duration, Words: 1})
	add(ir.Read{Stub: stubs.TaskLabels, Key: "k", Taken: ir.TakenInt, Type: stubs.Int, Words: 1})
	add(ir.Read{Stub: stubs.TaskName, Taken: ir.TakenHash, Type: stubs.Int, Words: 1})
	add(ir.Read{Stub: stubs.TaskLabels, Key: "k", Taken: ir.TakenFloat, Type: stubs.Float, Words: 1})
	add(ir.Read{Stub: stubs.Draw, Key: "1", Type: stubs.Float, Words: 1})
	add(ir.Read{Stub: stubs.QueueWait, Quantile: 0.99, Window: ir.DefaultWindow, Type: stubs.Duration, Words: 1})
	add(ir.Read{Stub: stubs.ClassService, Quantile: 0.5, Window: ir.MaxWindow, Type: stubs.Duration, Words: 1})
	add(ir.Read{Stub: stubs.StateRate, Key: "i", Window: ir.MinWindow, Type: stubs.Float, Words: 1})
	add(ir.Read{Stub: stubs.StateAverage, Key: "d", Window: ir.MinWindow, Type: stubs.Duration, Words: 1})
	for _, t := range randomStates {
		add(ir.Read{Stub: stubs.State, Key: t.String(), Type: t, Words: 1})
	}
	for _, t := range []stubs.Type{stubs.Int, stubs.Duration, stubs.Name} {
		set := ir.Set{Type: t}
		for range 1 + r.below(6) {
			set.Words = append(set.Words, r.word(t))
		}
		slices.Sort(set.Words)
		set.Words = slices.Compact(set.Words)
		p.Sets = append(p.Sets, set)
	}
	add(ir.Read{Stub: stubs.State, Key: "spent", By: &ir.KeyOf{{Type: stubs.Name, Offset: p.Reads[1].Offset}, {Type: stubs.Int, Constant: true, Text: "0"}}, Type: stubs.Int, Words: 1})
	for _, name := range randomBuckets {
		add(ir.Read{Stub: stubs.State, Key: name, By: &ir.KeyOf{{Type: stubs.Name, Offset: p.Reads[1].Offset}}, Type: stubs.Float, Burst: randomBurst, Words: 1})
	}
	p.Root = r.statement(stubs.Verdict, 6)
	return p
}

// word chooses a word of the type, small in most cases. Those that a stub cannot have are for
// constants and states only.
func (r *random) word(t stubs.Type) uint64 {
	switch t {
	case stubs.Bool:
		return uint64(r.below(2))
	case stubs.Name:
		return uint64(pick(r, append(stubs.Kinds[:], stubs.Intern("a"), stubs.Intern("b"))...))
	case stubs.Float:
		return math.Float64bits(pick(r, 0, 1, 0.5, 2, -1, 1e18, -1e19, math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), 5e-324, 1<<63))
	}
	return uint64(pick[int64](r, 0, 1, 2, 3, 4, 5, -1, -2, 1<<31, 1<<53+1, math.MaxInt64, math.MinInt64, math.MaxInt64-1, math.MinInt64+1))
}

// snapshot chooses words that the stubs can have.
func (r *random) snapshot() []uint64 {
	s := make([]uint64, r.prog.Words)
	for _, read := range r.prog.Reads {
		w := r.word(read.Type)
		if read.Burst > 0 {
			w = math.Float64bits(pick(r, 0, 0.5, 1, 2, 4.5, randomBurst))
		}
		switch {
		case read.Stub == stubs.Draw:
			w = math.Float64bits(pick(r, 0, 0.25, 0.5, 1-0x1p-53, 5e-324))
		case read.Taken == ir.TakenFloat:
			w = math.Float64bits(pick(r, 0, 1, -1, 1e18, math.MaxFloat64, 5e-324))
		case !read.OfState() && read.Taken == ir.TakenWhole:
			stub := stubs.Catalogue[read.Stub]
			switch {
			case stub.Enum:
				w = uint64(stubs.Kinds[r.below(4)])
			case read.Type.Integral():
				w = uint64(min(max(int64(w), stub.Min), stub.Max))
			case read.Type == stubs.Float:
				w = math.Float64bits(pick(r, 0, 0.25, 0.5, 1, 5e-324))
			case read.Type == stubs.NameList:
				w = uint64(r.below(read.Words))
				for i := 1; i < read.Words; i++ {
					s[read.Offset+i] = r.word(stubs.Name)
				}
			}
		}
		s[read.Offset] = w
	}
	return s
}

func (r *random) node(op ir.Op, t stubs.Type, operands ...*ir.Node) *ir.Node {
	r.nodes++
	n := &ir.Node{Op: op, Type: t}
	for i, operand := range operands {
		*[]**ir.Node{&n.A, &n.B, &n.C}[i] = operand
	}
	return n
}

func (r *random) statement(t stubs.Type, depth int) *ir.Node {
	if depth == 0 {
		return r.act(t, depth)
	}
	switch r.below(6) {
	case 0:
		return r.act(t, depth)
	case 1:
		return r.node(ir.OpSeq, t, r.statement(stubs.Unit, depth-1), r.statement(t, depth-1))
	case 2:
		local := randomScalars[r.below(len(randomScalars))]
		a := r.value(local, depth-1)
		return r.within(ir.OpLet, local, t, a, func() *ir.Node { return r.statement(t, depth-1) })
	}
	return r.node(ir.OpIf, t, r.value(stubs.Bool, depth), r.statement(t, depth-1), r.statement(t, depth-1))
}

// act makes a verdict, an effect, or a statement that does nothing.
func (r *random) act(t stubs.Type, depth int) *ir.Node {
	if t == stubs.Verdict {
		n := r.node(ir.OpVerdict, t)
		if n.Imm, n.Index = uint64(r.below(3)), r.below(3); stubs.Decision(n.Imm) == stubs.Throw && r.below(3) == 1 {
			n.A = r.value(stubs.Duration, depth)
		}
		return n
	}
	site := ir.Site{Effect: pick(r, stubs.Cancel, stubs.Background), Type: stubs.Unit}
	n := r.node(ir.OpEffect, t)
	switch r.below(5) {
	case 1, 2:
		site = ir.Site{Effect: stubs.Set, Name: "s", Type: randomStates[r.below(len(randomStates))]}
	case 3:
		site = ir.Site{Effect: pick(r, stubs.Add, stubs.Max, stubs.Min), Name: "s", Type: pick(r, stubs.Int, stubs.Float, stubs.Duration, stubs.Bytes)}
	case 4:
		site = ir.Site{Effect: stubs.Rank, Type: pick(r, stubs.Int, stubs.Duration, stubs.Bytes)}
	}
	if site.Type != stubs.Unit {
		n.A = r.value(site.Type, depth)
	}
	n.Index = len(r.prog.Sites)
	r.prog.Sites = append(r.prog.Sites, site)
	return n
}

// within makes a binding of a new local to a, with the body in its scope.
func (r *random) within(op ir.Op, local, t stubs.Type, a *ir.Node, body func() *ir.Node) *ir.Node {
	n := r.node(op, t, a)
	n.Index = len(r.prog.Locals)
	r.prog.Locals = append(r.prog.Locals, local)
	r.scope = append(r.scope, n.Index)
	n.B = body()
	r.scope = r.scope[:len(r.scope)-1]
	return n
}

func (r *random) value(t stubs.Type, depth int) *ir.Node {
	if depth <= 0 || r.nodes > 200 {
		return r.leaf(t)
	}
	sub := func(t stubs.Type) *ir.Node { return r.value(t, depth-1) }
	switch r.below(7) {
	case 0:
		return r.leaf(t)
	case 1:
		local := randomScalars[r.below(len(randomScalars))]
		return r.within(ir.OpLet, local, t, sub(local), func() *ir.Node { return sub(t) })
	case 2:
		return r.node(ir.OpIf, t, sub(stubs.Bool), sub(t), sub(t))
	}
	integral := pick(r, stubs.Int, stubs.Duration, stubs.Bytes)
	switch {
	case t == stubs.Bool:
		return r.condition(depth)
	case t == stubs.Int && r.below(8) == 0:
		return r.quantifier(ir.OpCount, t, depth)
	case t == stubs.Int && r.below(8) == 0:
		return r.node(ir.OpMix, t, sub(t), sub(t))
	case t.Integral() && r.below(6) == 0:
		return r.node(ir.OpInt, t, sub(stubs.Float))
	case t.Integral() && r.below(6) == 0:
		return r.node(ir.OpRetype, t, sub(integral))
	case t == stubs.Float && r.below(3) == 0:
		return r.node(ir.OpFloat, t, sub(integral))
	case t.Numeric() && r.below(6) == 0:
		return r.node(ir.OpNeg, t, sub(t))
	case t == stubs.Float && r.below(6) == 0:
		return r.node(ir.OpSqrt, t, sub(t))
	case t.Numeric():
		return r.arithmetic(t, depth)
	}
	return r.leaf(t)
}

// arithmetic makes divisions that are often guarded, by a condition about the divisor.
func (r *random) arithmetic(t stubs.Type, depth int) *ir.Node {
	ops := 4
	if t.Integral() {
		ops = 5
	}
	op := ir.OpAdd + ir.Op(r.below(ops))
	if t == stubs.Float && r.below(3) == 0 {
		op = ir.OpMin + ir.Op(r.below(2))
	}
	a, b := r.value(t, depth-1), r.value(t, depth-1)
	if op != ir.OpDiv && op != ir.OpMod || r.below(4) == 0 {
		return r.node(op, t, a, b)
	}
	var guard *ir.Node
	zero := r.node(ir.OpConst, t)
	switch compare := ir.OpEq + ir.Op(r.below(6)); {
	case b.Op == ir.OpSub && r.below(2) == 0:
		guard = r.node(compare, stubs.Bool, again(b.A), again(b.B))
	default:
		guard = r.node(compare, stubs.Bool, again(b), zero)
	}
	branches := []*ir.Node{r.node(op, t, a, b), r.leaf(t)}
	first := r.below(2)
	return r.node(ir.OpIf, t, guard, branches[first], branches[1-first])
}

func (r *random) condition(depth int) *ir.Node {
	sub := func(t stubs.Type) *ir.Node { return r.value(t, depth-1) }
	switch r.below(9) {
	case 0:
		return r.node(ir.OpNot, stubs.Bool, sub(stubs.Bool))
	case 1, 2:
		return r.node(ir.OpAnd, stubs.Bool, sub(stubs.Bool), sub(stubs.Bool))
	case 3:
		return r.node(ir.OpOr, stubs.Bool, sub(stubs.Bool), sub(stubs.Bool))
	case 5:
		index := r.below(len(r.prog.Sets))
		n := r.node(ir.OpIn, stubs.Bool, sub(r.prog.Sets[index].Type))
		n.Index = index
		return n
	case 4:
		return r.quantifier(ir.OpAny+ir.Op(r.below(3)), stubs.Bool, depth)
	case 6:
		if r.loops == 0 && len(r.prog.Sites) < 50 {
			return r.take(depth)
		}
	}
	t, ops := randomScalars[r.below(len(randomScalars))], 2
	if t.Numeric() {
		ops = 6
	}
	return r.node(ir.OpEq+ir.Op(r.below(ops)), stubs.Bool, sub(t), sub(t))
}

// take takes tokens, mostly of a number that is one.
func (r *random) take(depth int) *ir.Node {
	tokens := r.node(ir.OpConst, stubs.Float)
	tokens.Imm = math.Float64bits(pick(r, 0, 0.5, 1, 2, randomBurst))
	switch r.below(8) {
	case 0:
		tokens = r.value(stubs.Float, depth-1)
	case 1, 2:
		x := r.value(stubs.Float, depth-1)
		tokens = r.node(ir.OpIf, stubs.Float, r.node(ir.OpGe, stubs.Bool, x, r.node(ir.OpConst, stubs.Float)), again(x), tokens)
	}
	if len(r.prog.Sites) == stubs.MaxSites {
		return r.leaf(stubs.Bool)
	}
	name := randomBuckets[r.below(len(randomBuckets))]
	for _, read := range r.prog.Reads {
		if read.Key == name {
			n := r.node(ir.OpTake, stubs.Bool, tokens, &ir.Node{Op: ir.OpRead, Type: stubs.Float, Index: read.Offset})
			n.Index = len(r.prog.Sites)
			r.prog.Sites = append(r.prog.Sites, ir.Site{Effect: stubs.Take, Name: name, By: read.By, Type: stubs.Float})
			return n
		}
	}
	return nil
}

func (r *random) quantifier(op ir.Op, t stubs.Type, depth int) *ir.Node {
	if r.loops == 2 { // more would take too long
		return r.leaf(t)
	}
	r.loops++
	defer func() { r.loops-- }()
	source, element := ir.Source{Lo: int64(r.below(4)) - 1, Hi: int64(r.below(4)) - 1}, stubs.Int
	if r.below(2) == 0 {
		element = stubs.Name
		for _, read := range r.prog.Reads {
			if read.Type == stubs.NameList {
				source = ir.Source{List: true, Offset: read.Offset, Max: read.Words - 1}
			}
		}
	}
	n := r.within(op, element, t, nil, func() *ir.Node { return r.value(stubs.Bool, depth-1) })
	n.Source = source
	return n
}

func (r *random) leaf(t stubs.Type) *ir.Node {
	if r.below(3) == 0 {
		n := r.node(ir.OpConst, t)
		n.Imm = r.word(t)
		return n
	}
	var leaves []*ir.Node
	for _, l := range r.scope {
		if r.prog.Locals[l] == t {
			leaves = append(leaves, &ir.Node{Op: ir.OpLocal, Type: t, Index: l})
		}
	}
	for _, read := range r.prog.Reads {
		if read.Type == t {
			leaves = append(leaves, &ir.Node{Op: ir.OpRead, Type: t, Index: read.Offset})
		}
	}
	r.nodes++
	return leaves[r.below(len(leaves))]
}

func copyOf(n *ir.Node) *ir.Node {
	if n == nil {
		return nil
	}
	c := *n
	c.A, c.B, c.C = copyOf(n.A), copyOf(n.B), copyOf(n.C)
	return &c
}

// again is another occurrence of a value, which takes no tokens: each site is written once.
func again(n *ir.Node) *ir.Node {
	if n == nil {
		return nil
	}
	c := *n
	c.A, c.B, c.C = again(n.A), again(n.B), again(n.C)
	if c.Op == ir.OpTake {
		c.Op, c.A, c.B, c.Index = ir.OpGe, c.B, c.A, 0
	}
	return &c
}

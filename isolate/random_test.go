package isolate

import (
	"math"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// choices is a stream of decisions read from bytes, so that a fuzzer's mutations of the bytes are
// mutations of the program. At its end every decision is 0, for which the generator below makes the
// smallest possible construct.
type choices struct{ data []byte }

func (c *choices) below(n int) int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

// The snapshot that random programs read: two words of each scalar type, then lists.
var (
	scalars    = []stubs.Type{stubs.Bool, stubs.Int, stubs.Float, stubs.Duration, stubs.Bytes, stubs.Name}
	listSource = ir.Source{List: true, Offset: 2 * len(scalars), Max: 4}
	noneSource = ir.Source{List: true, Offset: listSource.Offset + 5, Max: 0}
	words      = noneSource.Offset + 1
)

var extremes = map[stubs.Type][]uint64{
	stubs.Bool: {0, 1},
	stubs.Int: {0, 1, math.MaxUint64, 2, 3, 1 << 31, 1<<31 - 1, math.MaxUint64 - 1<<31, 1 << 32, -1 << 32 & math.MaxUint64, -1 << 31 & math.MaxUint64, 3037000500, 1 << 62, 1<<63 - 1, 1 << 63, 1<<63 + 1,
		100_000_000},
	stubs.Name: {0, 1, 2, 7, 1 << 32, math.MaxUint64},
	stubs.Float: {0, 1 << 63, math.Float64bits(1), math.Float64bits(-1), math.Float64bits(0.5), math.Float64bits(1e18), math.Float64bits(-1e19),
		math.Float64bits(1 << 63), math.Float64bits(-1 << 63), math.Float64bits(math.MaxFloat64), 1, 0x7ff0000000000000, 0xfff0000000000000,
		0x7ff8000000000000, 0x7ff8000000000001, 0xfff8dead00000000, 0x7ff0000000000001, math.Float64bits(9223372036854774784), math.Float64bits(-0.9)},
}

func (c *choices) word(t stubs.Type) uint64 {
	if t == stubs.Duration || t == stubs.Bytes {
		t = stubs.Int
	}
	return extremes[t][c.below(len(extremes[t]))]
}

// snapshot chooses words; some bools and lengths are malformed.
func (c *choices) snapshot() []uint64 {
	s := make([]uint64, words)
	for i := range 2 * len(scalars) {
		s[i] = c.word(scalars[i/2])
	}
	for i := range s[:2] {
		s[i] *= []uint64{1, 2, 1 << 32, 1 << 63}[c.below(4)]
	}
	for i := listSource.Offset; i < words; i++ {
		s[i] = c.word(stubs.Name)
	}
	s[listSource.Offset] = []uint64{0, 1, 2, 4, 5, 1 << 32, 1<<32 + 1, 1 << 61, math.MaxUint64}[c.below(9)]
	return s
}

// program is a random well-typed program.
type program struct {
	choices
	ir.Program
	scope []int // locals in scope
	nodes int
}

func randomProgram(c *choices) *ir.Program {
	p := &program{choices: *c, Program: ir.Program{Words: words, Reasons: []string{"a", "b", "c"}}}
	for _, t := range []stubs.Type{stubs.Int, stubs.Name} {
		set := ir.Set{Type: t}
		for range 1 + p.below(12) {
			set.Words = append(set.Words, p.word(t))
		}
		slices.Sort(set.Words)
		set.Words = slices.Compact(set.Words)
		p.Sets = append(p.Sets, set)
	}
	p.Root = p.node(stubs.Verdict, 7)
	*c = p.choices
	return &p.Program
}

// node makes a node of type t. Its position is its number, so that positions of errors can be
// compared.
func (p *program) node(t stubs.Type, depth int) *ir.Node {
	p.nodes++
	n := &ir.Node{Type: t, Pos: p.nodes}
	if depth == 0 || p.nodes > 300 {
		p.leaf(n)
		return n
	}
	switch p.below(6) {
	case 0:
		p.leaf(n)
	case 1:
		n.Op, n.A, n.B, n.C = ir.OpIf, p.node(stubs.Bool, depth-1), p.node(t, depth-1), p.node(t, depth-1)
	case 2:
		p.let(n, depth)
	case 3:
		n.Op, n.A, n.B = ir.OpSeq, p.node(stubs.Unit, depth-1), p.node(t, depth-1)
	default:
		p.operation(n, depth)
	}
	return n
}

func (p *program) leaf(n *ir.Node) {
	switch n.Type {
	case stubs.Unit:
		n.Op = ir.OpConst
		return
	case stubs.Verdict:
		n.Op, n.Imm, n.Index = ir.OpVerdict, uint64(p.below(3)), p.below(3)
		return
	}
	for _, l := range p.scope {
		if p.Locals[l] == n.Type && p.below(2) == 1 {
			n.Op, n.Index = ir.OpLocal, l
			return
		}
	}
	if p.below(2) == 0 {
		n.Op, n.Imm = ir.OpConst, p.word(n.Type)
		return
	}
	n.Op = ir.OpRead
	for i, t := range scalars {
		if t == n.Type {
			n.Index = 2*i + p.below(2)
		}
	}
}

func (p *program) let(n *ir.Node, depth int) {
	t := scalars[p.below(len(scalars))]
	n.Op, n.A = ir.OpLet, p.node(t, depth-1)
	n.Index, n.B = p.within(t, n.Type, depth)
}

// within makes a node of type t in the scope of a new local.
func (p *program) within(local, t stubs.Type, depth int) (int, *ir.Node) {
	index := len(p.Locals)
	p.Locals = append(p.Locals, local)
	p.scope = append(p.scope, index)
	n := p.node(t, depth-1)
	p.scope = p.scope[:len(p.scope)-1]
	return index, n
}

func (p *program) operation(n *ir.Node, depth int) {
	sub := func(t stubs.Type) *ir.Node { return p.node(t, depth-1) }
	switch t := n.Type; {
	case t == stubs.Unit:
		p.effect(n, depth)
	case t == stubs.Verdict:
		if p.leaf(n); stubs.Decision(n.Imm) == stubs.Throw && p.below(2) == 1 {
			n.A = sub(stubs.Duration)
		}
	case t == stubs.Bool:
		p.predicate(n, depth)
	case t == stubs.Int && p.below(4) == 1:
		p.quantifier(n, ir.OpCount, depth)
	case t == stubs.Int && p.below(8) == 1:
		n.Op, n.A, n.B = ir.OpMix, sub(t), sub(t)
	case t.Integral() && p.below(4) == 1:
		n.Op, n.A = ir.OpInt, sub(stubs.Float)
	case t.Integral() && p.below(4) == 1:
		n.Op, n.A = ir.OpRetype, sub([]stubs.Type{stubs.Int, stubs.Duration, stubs.Bytes}[p.below(3)])
	case t == stubs.Float && p.below(4) == 1:
		n.Op, n.A = ir.OpFloat, sub([]stubs.Type{stubs.Int, stubs.Duration, stubs.Bytes}[p.below(3)])
	case t.Numeric() && p.below(6) == 1:
		n.Op, n.A = ir.OpNeg, sub(t)
	case t.Integral():
		n.Op, n.A, n.B = ir.OpAdd+ir.Op(p.below(5)), sub(t), sub(t)
	case t == stubs.Float && p.below(4) == 1:
		n.Op, n.A, n.B = ir.OpMin+ir.Op(p.below(2)), sub(t), sub(t)
	case t == stubs.Float && p.below(8) == 1:
		n.Op, n.A = ir.OpSqrt, sub(t)
	case t == stubs.Float:
		n.Op, n.A, n.B = ir.OpAdd+ir.Op(p.below(4)), sub(t), sub(t)
	default:
		p.leaf(n)
	}
}

func (p *program) predicate(n *ir.Node, depth int) {
	switch p.below(7) {
	case 6:
		p.take(n, depth)
	case 0:
		n.Op, n.A = ir.OpNot, p.node(stubs.Bool, depth-1)
	case 3:
		n.Op, n.Index = ir.OpIn, p.below(len(p.Sets))
		n.A = p.node(p.Sets[n.Index].Type, depth-1)
	case 1:
		n.Op = ir.OpAnd + ir.Op(p.below(2))
		n.A, n.B = p.node(stubs.Bool, depth-1), p.node(stubs.Bool, depth-1)
	case 2:
		p.quantifier(n, ir.OpAny+ir.Op(p.below(3)), depth)
	default:
		t, ops := scalars[p.below(len(scalars))], 2
		if t.Numeric() {
			ops = 6
		}
		n.Op = ir.OpEq + ir.Op(p.below(ops))
		n.A, n.B = p.node(t, depth-1), p.node(t, depth-1)
	}
}

func (p *program) quantifier(n *ir.Node, op ir.Op, depth int) {
	n.Op = op
	element := stubs.Int
	switch p.below(6) {
	case 0:
		n.Source, element = noneSource, stubs.Name
	case 1:
		n.Source = ir.Source{Lo: int64(p.below(5)) - 2, Hi: int64(p.below(5)) - 2}
	case 2:
		n.Source = ir.Source{Lo: math.MaxInt64 - 2, Hi: math.MaxInt64}
	case 3:
		n.Source = ir.Source{Lo: math.MinInt64, Hi: math.MinInt64 + 1}
	default:
		n.Source, element = listSource, stubs.Name
	}
	n.Index, n.B = p.within(element, stubs.Bool, depth)
}

// take takes tokens, of any number, also in predicates: the last counts, in all evaluators.
func (p *program) take(n *ir.Node, depth int) {
	tokens := p.node(stubs.Float, depth-1)
	if len(p.Sites) == stubs.MaxSites {
		n.Op = ir.OpConst
		return
	}
	p.nodes++
	there := &ir.Node{Op: ir.OpRead, Type: stubs.Float, Index: 2*slices.Index(scalars, stubs.Float) + p.below(2), Pos: p.nodes}
	n.Op, n.A, n.B, n.Index = ir.OpTake, tokens, there, len(p.Sites)
	p.Sites = append(p.Sites, ir.Site{Effect: stubs.Take, Name: "b", Type: stubs.Float})
}

func (p *program) effect(n *ir.Node, depth int) {
	site := ir.Site{Type: stubs.Unit}
	if t := p.below(len(scalars) + 1); t > 0 {
		site.Type = scalars[t-1]
		n.A = p.node(site.Type, depth-1)
	}
	if len(p.Sites) == stubs.MaxSites {
		*n = ir.Node{Op: ir.OpConst, Type: stubs.Unit, Pos: n.Pos}
		return
	}
	n.Op, n.Index = ir.OpEffect, len(p.Sites)
	p.Sites = append(p.Sites, site)
}

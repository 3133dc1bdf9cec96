package instrument

import (
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/cfg"
)

// lockFlow follows the locks through a function's control flow. A lock is held at a place if it may
// be held there on any way.
type lockFlow struct {
	calls map[ast.Node]lockCall
	bits  map[string]uint64 // a bit for each lock
	in    map[*cfg.Block]*holding
}

// holding is what a function may hold at a place.
type holding struct{ locks, pinned uint64 } // pinned: a deferred call will release it

func (h holding) any() bool { return h.locks|h.pinned != 0 }

// heldIn returns where in the body locks are held, as far as the text tells: from an acquisition to
// the release of the same lock on each way, or to the end. What is released and was not acquired
// before, in the text, is held from the beginning; where a deferred call will release it, to the
// end: the release of a lock that is free ends the program.
func heldIn(body *ast.BlockStmt, of lockCallOfNode, left string) (held []span) {
	calls := lockCalls(body, of, left)
	if len(calls) == 0 {
		return nil
	}
	f := &lockFlow{calls: map[ast.Node]lockCall{}, bits: map[string]uint64{}, in: map[*cfg.Block]*holding{}}
	begin := holding{}
	for _, c := range calls {
		f.calls[c.node] = c
		if f.bits[c.what] == 0 {
			f.bits[c.what] = 1 << min(len(f.bits), 63) // of more, some share one
		}
	}
	acquired := map[string]bool{}
	for _, c := range calls { // in the order of the text
		if acquired[c.what] = acquired[c.what] || c.acquires; !acquired[c.what] {
			begin.locks |= f.bits[c.what]
		}
	}
	g := cfg.New(body, func(call *ast.CallExpr) bool {
		id, ok := call.Fun.(*ast.Ident)
		return !ok || id.Name != "panic"
	})
	f.follow(g, begin)
	held = united(f.spans(g, body))
	for i := range held {
		held[i].to = min(held[i].to, body.End()) // the graph has a return statement at the end, which is too long
	}
	return held
}

// united returns the same places as the fewest spans.
func united(spans []span) (all []span) {
	slices.SortFunc(spans, func(a, b span) int { return int(a.from - b.from) })
	for _, s := range spans {
		if n := len(all); n > 0 && s.from <= all[n-1].to {
			all[n-1].to = max(all[n-1].to, s.to)
		} else {
			all = append(all, s)
		}
	}
	return all
}

// follow finds what is held where each block begins.
func (f *lockFlow) follow(g *cfg.CFG, begin holding) {
	f.in[g.Blocks[0]] = &begin
	for work := []*cfg.Block{g.Blocks[0]}; len(work) > 0; {
		b := work[0]
		work = work[1:]
		h := *f.in[b]
		for _, n := range b.Nodes {
			h = f.behind(n, h)
		}
		for i, next := range b.Succs {
			there := h
			if len(b.Succs) == 2 {
				there.locks &^= f.failed(b, i == 0)
			}
			known := f.in[next]
			if known == nil {
				f.in[next] = &there
			} else if all := (holding{known.locks | there.locks, known.pinned | there.pinned}); all != *known {
				*known = all
			} else {
				continue
			}
			work = append(work, next)
		}
	}
}

// behind returns what is held behind a node.
func (f *lockFlow) behind(n ast.Node, h holding) holding {
	f.each(n, func(c lockCall, bit uint64) {
		switch {
		case c.deferred:
			h.pinned |= bit
		case c.acquires:
			h.locks |= bit
		default:
			h.locks &^= bit
		}
	})
	return h
}

// each calls visit for the calls in n that acquire or release a lock.
func (f *lockFlow) each(n ast.Node, visit func(c lockCall, bit uint64)) {
	ast.Inspect(n, func(n ast.Node) bool {
		if c, ok := f.calls[n]; ok {
			visit(c, f.bits[c.what])
		}
		return true
	})
}

// failed returns the lock that a block ends with trying to get, in a condition, if the condition's
// being so means that it did not.
func (f *lockFlow) failed(b *cfg.Block, so bool) uint64 {
	if len(b.Nodes) == 0 {
		return 0
	}
	cond, ok := b.Nodes[len(b.Nodes)-1].(ast.Expr)
	if !ok {
		return 0
	}
	cond = ast.Unparen(cond)
	if not, ok := cond.(*ast.UnaryExpr); ok && not.Op == token.NOT {
		cond, so = ast.Unparen(not.X), !so
	}
	if c, ok := f.calls[cond]; ok && c.tries && !so {
		return f.bits[c.what]
	}
	return 0
}

// node is one of a function's nodes, with what is held before and behind it.
type node struct {
	ast.Node
	before, behind holding
}

// spans returns the places at which something is held: in nodes, and between a node that holds
// something and the one before.
func (f *lockFlow) spans(g *cfg.CFG, body *ast.BlockStmt) (held []span) {
	var nodes []node
	for _, b := range g.Blocks {
		if f.in[b] == nil {
			continue // nothing leads there
		}
		h := *f.in[b]
		if loop := b.Stmt; (b.Kind == cfg.KindForBody || b.Kind == cfg.KindRangeBody) && h.any() {
			lbrace := bodyOf(loop).Lbrace
			held = append(held, span{lbrace, lbrace + 1})
		}
		for _, n := range b.Nodes {
			next := f.behind(n, h)
			nodes = append(nodes, node{n, h, next})
			h = next
		}
	}
	slices.SortStableFunc(nodes, func(a, b node) int { return int(a.Pos() - b.Pos()) })
	last := body.Pos()
	for _, n := range nodes {
		switch from := n.Pos(); {
		case n.before.any():
			held = append(held, span{min(last, from), n.End()})
		case n.behind.any():
			f.each(n.Node, func(c lockCall, _ uint64) { from = max(from, c.node.Pos()) })
			held = append(held, span{from + 1, n.End()}) // just before it there may be a poll
		}
		last = max(last, n.End())
	}
	return append(held, f.jumps(nodes, body)...)
}

// jumps returns the goto statements at which something is held, or may be: they are no nodes.
func (f *lockFlow) jumps(nodes []node, body *ast.BlockStmt) (held []span) {
	ast.Inspect(body, func(n ast.Node) bool {
		b, ok := n.(*ast.BranchStmt)
		if !ok || b.Tok != token.GOTO {
			return true
		}
		i, _ := slices.BinarySearchFunc(nodes, b.Pos(), func(n node, p token.Pos) int { return int(n.Pos() - p) })
		if i > 0 && nodes[i-1].behind.any() || i < len(nodes) && nodes[i].before.any() {
			held = append(held, span{b.Pos(), b.End()})
		}
		return true
	})
	return held
}

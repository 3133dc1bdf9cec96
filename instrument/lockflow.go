package instrument

import (
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/cfg"
)

// lockFlow follows the locks through a function's control flow. The state at a place includes the
// states possible on any path to it.
type lockFlow struct {
	calls  map[ast.Node]lockCall
	bits   map[string]uint64 // a bit for each lock
	names  map[uint64]string
	unsure uint64 // locks that a deferred call may not release, and the bit shared by excess locks
	reads  uint64 // locks taken only for reading
	own    uint64 // locks of the method's receiver

	callers uint64 // locks of a caller that the function releases permanently
	in      map[*cfg.Block]*holding
}

// heldIn returns the stretches of the body in which locks are held, as far as the text shows: from
// an acquisition to the release of the same lock on each path, or to the end. A lock that the text
// releases without a previous acquisition is held from the beginning. If the function acquires it
// again, the caller will release it. The release of a free lock ends the program.
func (r *rewriter) heldIn(c *code) (held []hold) {
	body := c.body
	calls := lockCalls(r.lockNodes(body), r.lockCallOf, r.leftBy(c))
	if len(calls) == 0 {
		return nil
	}
	f := &lockFlow{calls: map[ast.Node]lockCall{}, bits: map[string]uint64{}, names: map[uint64]string{}, in: map[*cfg.Block]*holding{}}
	f.number(calls)
	for _, call := range calls {
		if call.expr != nil && r.inReceiver(c, call.expr) {
			f.own |= f.bits[call.what] &^ (1 << 63)
		}
	}
	g := cfg.New(body, func(call *ast.CallExpr) bool {
		id, ok := call.Fun.(*ast.Ident)
		return !ok || id.Name != "panic"
	})
	f.follow(g, f.atBegin(calls))
	c.releases = f.callers != 0
	return united(f.spans(g, body))
}

// number assigns a bit to each lock.
func (f *lockFlow) number(calls []lockCall) {
	const shared = 1 << 63
	for _, c := range calls {
		f.calls[c.node] = c
		if f.bits[c.what] == 0 {
			bit := uint64(1) << min(len(f.bits), 63)
			f.bits[c.what], f.names[bit] = bit, c.lock
			if isRead[c.release] {
				f.reads |= bit
			}
		}
		if c.unsure {
			f.unsure |= f.bits[c.what]
		}
	}
	f.unsure |= shared
	f.reads &^= shared
}

// atBegin returns the locks held at the function's beginning.
func (f *lockFlow) atBegin(calls []lockCall) (h holding) {
	acquired := map[string]bool{}
	h.free = ^uint64(0)
	for _, c := range calls { // in source order
		if acquired[c.what] = acquired[c.what] || c.acquires; !acquired[c.what] {
			h.bare |= f.bits[c.what]
			h.free &^= f.bits[c.what]
		}
	}
	f.callers = h.bare
	for _, c := range calls {
		if bit := f.bits[c.what]; c.acquires && h.bare&bit != 0 { // a caller's lock
			f.callers &^= bit
			h.bare &^= bit
			h.covered |= bit
			f.unsure |= bit
		}
	}
	return h
}

// follow finds the locks held at the beginning of each block.
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
				there.release(f.failed(b, i == 0))
			}
			known := f.in[next]
			if known == nil {
				f.in[next] = &there
			} else if all := known.or(there); all != *known {
				*known = all
			} else {
				continue
			}
			work = append(work, next)
		}
	}
}

// behind returns the locks held after a node.
func (f *lockFlow) behind(n ast.Node, h holding) holding {
	f.each(n, func(c lockCall, bit uint64) {
		switch {
		case c.deferred:
			h.pin(bit)
		case c.acquires:
			h.acquire(bit)
		default:
			h.release(bit)
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

// failed returns the lock that the condition at the end of a block tries to acquire, if the
// condition's value means that the attempt failed.
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
	if compared, ok := cond.(*ast.BinaryExpr); ok && (compared.Op == token.EQL || compared.Op == token.NEQ) {
		// atomic.SwapInt32(&busy, 1) == 0
		number, ok := ast.Unparen(compared.Y).(*ast.BasicLit)
		if !ok {
			return 0
		}
		cond = ast.Unparen(compared.X)
		if (number.Value == "0") == (compared.Op == token.EQL) {
			so = !so
		}
	}
	if c, ok := f.calls[cond]; ok && c.acquires && c.tries && so == c.failsIf {
		return f.bits[c.what]
	}
	return 0
}

// node is one of a function's nodes, with the locks held before and after it.
type node struct {
	ast.Node
	before, behind holding
}

// spans returns the places at which a lock is held: in nodes, and between a node with a lock and
// the previous node.
func (f *lockFlow) spans(g *cfg.CFG, body *ast.BlockStmt) (held []hold) {
	var nodes []node
	add := func(from, to token.Pos, h holding) {
		// The package that creates the graph adds a return statement at the end, which is too long.
		held = append(held, f.hold(span{from, min(to, body.End())}, h))
	}
	for _, b := range g.Blocks {
		if f.in[b] == nil {
			continue // unreachable
		}
		h := *f.in[b]
		if loop := b.Stmt; (b.Kind == cfg.KindForBody || b.Kind == cfg.KindRangeBody) && h.any() {
			lbrace := bodyOf(loop).Lbrace
			add(lbrace, lbrace+1, h)
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
			add(min(last, from), n.End(), n.before)
		case n.behind.any():
			f.each(n.Node, func(c lockCall, _ uint64) { from = max(from, c.node.Pos()) })
			add(from+1, n.End(), n.behind) // a poll may stand directly before it
		}
		last = max(last, n.End())
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO {
			if h := around(nodes, b.Pos()); h.any() {
				add(b.Pos(), b.End(), h)
			}
		}
		return true
	})
	return held
}

// around returns the locks that may be held at a goto statement, which is not a node.
func around(nodes []node, p token.Pos) (h holding) {
	i, _ := slices.BinarySearchFunc(nodes, p, func(n node, p token.Pos) int { return int(n.Pos() - p) })
	if i > 0 {
		h = nodes[i-1].behind
	}
	if i < len(nodes) {
		h = h.or(nodes[i].before)
	}
	return h
}

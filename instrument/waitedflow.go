package instrument

import (
	"cmp"
	"go/ast"
	"slices"

	"golang.org/x/tools/go/cfg"
)

// fannedStretch is a stretch in which goroutines work that the function will wait for.
type fannedStretch struct {
	by *fanOut
	// the first node, and the spans of all nodes, each from the end of the previous node
	first ast.Node
	spans []span
	nodes []ast.Node
	heads []ast.Stmt // loops with such a stretch at the head of their body
}

// fannedStretches finds the stretches of a function in which goroutines work that the function will
// wait for on every path.
func (r *rewriter) fannedStretches(c *code) {
	all := r.fanOuts(c)
	if len(all) == 0 {
		return
	}
	g := cfg.New(c.body, func(call *ast.CallExpr) bool {
		id, ok := call.Fun.(*ast.Ident)
		return !ok || id.Name != "panic"
	})
	for _, by := range all {
		if s := stretchOf(g, c, by); s != nil {
			c.fanned = append(c.fanned, s)
		}
	}
}

// stretchOf returns the stretch between the starts and the waits, or nil if there is none.
func stretchOf(g *cfg.CFG, c *code, by *fanOut) *fannedStretch {
	f := fanFlow{by: by, in: map[*cfg.Block]*fanState{}}
	for _, b := range g.Blocks {
		f.in[b] = &fanState{always: true}
	}
	for f.step(g) {
	}
	s := &fannedStretch{by: by}
	f.collect(g, s)
	if len(s.nodes) == 0 {
		return nil
	}
	s.span(g, c.body)
	return s
}

// fanFlow follows the goroutines of one awaiting through a function's control flow.
type fanFlow struct {
	by *fanOut
	in map[*cfg.Block]*fanState
}

// fanState is what may happen on the paths through the beginning of a block.
type fanState struct {
	started bool // before it, some goroutine may have been started, and not been waited for
	again   bool // after it, a wait may follow, before another start
	ever    bool // behind it, a wait may follow
	always  bool // after it, a wait follows on each path that returns
}

// step passes the states on along the edges of the graph, and reports whether any has changed.
func (f *fanFlow) step(g *cfg.CFG) (changed bool) {
	for _, b := range g.Blocks {
		s, end := f.in[b], f.atEnd(b)
		for _, n := range slices.Backward(b.Nodes) {
			end = f.before(n, end)
		}
		if f.ends(b) {
			end = fanState{again: true, ever: true, always: true}
		}
		if end.again && !s.again || end.ever && !s.ever || !end.always && s.always {
			s.again, s.ever, s.always, changed = end.again, end.ever, end.always, true
		}
		started := f.startedIn(b)
		for i, n := range b.Nodes {
			started = f.behind(b, i, n, started)
		}
		for _, next := range b.Succs {
			if started && !f.in[next].started {
				f.in[next].started, changed = true, true
			}
		}
	}
	return changed
}

// ends reports whether the wait has happened when the block begins.
func (f *fanFlow) ends(b *cfg.Block) bool {
	switch b.Kind {
	case cfg.KindForDone, cfg.KindRangeDone:
		return f.by.ends[b.Stmt]
	case cfg.KindSelectCaseBody:
		return f.by.cases[b.Stmt]
	}
	return false
}

// startedIn returns the state after a wait at the block's beginning.
func (f *fanFlow) startedIn(b *cfg.Block) bool {
	return f.in[b].started && (!f.ends(b) || f.waitsAgain(b, 0))
}

// behind returns whether goroutines may work behind a node of the block.
func (f *fanFlow) behind(b *cfg.Block, i int, n ast.Node, before bool) bool {
	switch {
	case contains(n, f.by.starts):
		return true
	case contains(n, f.by.waits):
		return before && f.waitsAgain(b, i+1)
	}
	return before
}

// waitsAgain reports whether another wait may follow, before another start.
func (f *fanFlow) waitsAgain(b *cfg.Block, from int) bool { return f.behindNode(b, from).again }

// behindNode returns the state at a node of the block.
func (f *fanFlow) behindNode(b *cfg.Block, from int) fanState {
	s := f.atEnd(b)
	for _, n := range slices.Backward(b.Nodes[from:]) {
		s = f.before(n, s)
	}
	return s
}

// atEnd returns the state at the end of a block.
func (f *fanFlow) atEnd(b *cfg.Block) fanState {
	s := fanState{always: true}
	for _, next := range b.Succs {
		n := f.in[next]
		s.again, s.ever, s.always = s.again || n.again, s.ever || n.ever, s.always && n.always
	}
	return s
}

// before returns the state before a node.
func (f *fanFlow) before(n ast.Node, s fanState) fanState {
	_, returns := n.(*ast.ReturnStmt)
	switch {
	case contains(n, f.by.waits):
		return fanState{again: true, ever: true, always: true}
	case returns:
		return fanState{}
	case contains(n, f.by.starts) && !contains(n, f.by.keeps):
		s.again = false
	}
	return s
}

// contains reports whether the node contains one of the nodes.
func contains(n ast.Node, others []ast.Node) bool {
	return slices.ContainsFunc(others, func(o ast.Node) bool { return n.Pos() <= o.Pos() && o.End() <= n.End() })
}

// collect adds the nodes at which goroutines work that the function will wait for.
func (f *fanFlow) collect(g *cfg.CFG, s *fannedStretch) {
	for _, b := range g.Blocks {
		if !b.Live {
			continue
		}
		started := f.startedIn(b)
		awaited := func(i int) bool {
			at := f.behindNode(b, i)
			if f.by.some {
				return at.again
			}
			return at.ever && (at.always || f.by.asks)
		}
		if (b.Kind == cfg.KindForBody || b.Kind == cfg.KindRangeBody) && started && awaited(0) && !f.by.asksForever(b.Stmt) {
			s.heads = append(s.heads, b.Stmt)
		}
		for i, n := range b.Nodes {
			if started && awaited(i) {
				s.nodes = append(s.nodes, n)
			}
			started = f.behind(b, i, n, started)
		}
	}
}

// asksForever reports whether a loop without a condition sends requests: nothing would stop it if
// no throw came before an iteration.
func (f *fanOut) asksForever(s ast.Stmt) bool {
	loop, ok := s.(*ast.ForStmt)
	return ok && f.asks && loop.Cond == nil && f.startsIn(loop)
}

// span finds the text of the nodes, each with the text after the previous node.
func (s *fannedStretch) span(g *cfg.CFG, body *ast.BlockStmt) {
	var all []ast.Node
	for _, b := range g.Blocks {
		all = append(all, b.Nodes...)
	}
	byPlace := func(a, b ast.Node) int { return cmp.Compare(a.Pos(), b.Pos()) }
	slices.SortStableFunc(all, byPlace)
	slices.SortStableFunc(s.nodes, byPlace)
	last := body.Lbrace
	for _, n := range all {
		if slices.Contains(s.nodes, n) {
			s.spans = append(s.spans, span{min(last, n.Pos()), n.End()})
		}
		last = max(last, n.End())
	}
	s.first = s.nodes[0]
}

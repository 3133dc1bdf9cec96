package instrument

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/cfg"
)

// looseStretches finds the stretches of a function in which it has acquired a resource, and has not
// yet deferred its release.
func (r *rewriter) looseStretches(c *code) {
	if len(c.defers)+len(c.registers) == 0 && !slices.ContainsFunc(c.runs, func(in *code) bool { return in.defersAny() }) {
		return
	}
	released := r.releases(c)
	kept := r.keepStored(c, released)
	g := cfg.New(c.body, func(*ast.CallExpr) bool { return true })
	loose := map[ast.Node]looseStretch{}
	for _, d := range c.defers {
		if _, later := ast.Unparen(d.Call.Fun).(*ast.CallExpr); !later {
			// the text may not show what the previous statement acquires
			loose[d] = looseStretch{node: d}
		}
	}
	for _, of := range slices.SortedFunc(maps.Keys(released), resource.compare) {
		by := released[of]
		follow := func(stores []ast.Node) {
			f := looseFlow{r: r, c: c, of: of, by: by.by, release: by, stores: stores, acquired: map[*cfg.Block]bool{}, awaited: map[*cfg.Block]bool{}, got: map[ast.Node]bool{}, back: map[ast.Node]bool{}}
			f.follow(g, loose)
		}
		if of.path == "" || by.how != elsewhere && !by.stored && len(r.closures[of.v]) == 0 {
			follow(nil)
		}
		if stores := slices.Concat(kept[of], r.places(c, of, by)); len(stores) > 0 {
			follow(stores)
		}
	}
	var nodes []ast.Node
	for _, b := range g.Blocks {
		nodes = append(nodes, b.Nodes...)
	}
	slices.SortStableFunc(nodes, func(a, b ast.Node) int { return cmp.Compare(a.Pos(), b.Pos()) })
	last := c.body.Lbrace
	for _, n := range nodes {
		if s, ok := loose[n]; ok {
			s.span = span{min(last, n.Pos()), n.End()}
			if lit := litIn(n, s.by); lit != nil { // its own stretches begin there
				s.to = lit.Pos()
			}
			c.loose = append(c.loose, s)
		}
		last = max(last, n.End())
	}
	for _, l := range c.loops {
		if s, ok := loose[l.stmt]; ok {
			s.span = span{l.stmt.Pos(), bodyOf(l.stmt).Lbrace}
			c.heads = append(c.heads, s)
		}
	}
}

// defersAny reports whether the function, or a literal that it calls or starts, defers a call.
func (c *code) defersAny() bool {
	return len(c.defers)+len(c.registers) > 0 || slices.ContainsFunc(c.runs, func(in *code) bool { return in.defersAny() })
}

// looseFlow follows one resource through a function's control flow.
type looseFlow struct {
	r        *rewriter
	c        *code
	of       resource
	by       []ast.Node
	stores   []ast.Node          // if any, only these acquire the resource; its other values stay
	acquired map[*cfg.Block]bool // it may be acquired at the block's beginning
	// a defer statement may follow the block, before another acquisition
	awaited map[*cfg.Block]bool
	got     map[ast.Node]bool
	release *release
	ways    ways              // see givesBack
	back    map[ast.Node]bool // nodes that release it without a deferred call
}

// follow finds where the resource is acquired and a defer statement that releases it may still
// follow. It adds the nodes of which this is true to loose. It adds a loop if this is true at the
// head of its body.
func (f *looseFlow) follow(g *cfg.CFG, loose map[ast.Node]looseStretch) {
	f.acquired[g.Blocks[0]] = f.isGiven()
	for _, b := range g.Blocks {
		f.acquired[b] = f.acquired[b] || f.begins(b)
	}
	for changed := true; changed; {
		changed = false
		for _, b := range g.Blocks {
			acquired, awaited := f.acquired[b], f.awaited[b]
			for _, n := range b.Nodes {
				acquired = f.behind(n, acquired)
			}
			for i, next := range b.Succs {
				if acquired && !f.acquired[next] && !f.failed(b, i == 0) {
					f.acquired[next], changed = true, true
				}
				if !awaited && !f.begins(next) && f.awaitedBefore(next.Nodes, f.awaited[next]) {
					awaited, changed = true, true
				}
			}
			f.awaited[b] = awaited
		}
	}
	for _, b := range g.Blocks {
		acquired := f.acquired[b]
		if acquired && (b.Kind == cfg.KindForBody || b.Kind == cfg.KindRangeBody) && f.awaitedBefore(b.Nodes, f.awaited[b]) {
			loose[b.Stmt] = looseStretch{node: b.Stmt, of: f.of, by: f.by[0]}
		}
		for i, n := range b.Nodes {
			if acquired && f.awaitedBefore(b.Nodes[i:], f.awaited[b]) {
				loose[n] = looseStretch{node: n, of: f.of, by: f.by[0]}
			}
			acquired = f.behind(n, acquired)
		}
	}
}

// begins reports whether the loop acquires the resource at the beginning of the block, its body.
func (f *looseFlow) begins(b *cfg.Block) bool {
	loop, ok := b.Stmt.(*ast.RangeStmt)
	if !ok || b.Kind != cfg.KindRangeBody || f.of.path != "" || !f.r.rangesOver(loop) {
		return false
	}
	is := func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return ok && f.r.info.ObjectOf(id) == f.of.v
	}
	return is(loop.Key) || is(loop.Value)
}

// isGiven reports whether the caller has acquired the resource: it is a parameter, or the function
// around a called literal has acquired it. A server's handler never releases its request and the
// writer of its response: the server does.
func (f *looseFlow) isGiven() bool {
	v, ok := f.of.v.(*types.Var)
	if !ok || v.Name() != f.of.path {
		return false
	}
	switch types.TypeString(v.Type(), nil) {
	case "net/http.ResponseWriter", "*net/http.Request":
		return false
	}
	if f.c.declares(v) {
		return v.Kind() == types.ParamVar
	}
	c := f.c
	for c.use == called && c.outer.body != nil {
		if c = c.outer; c.declares(v) {
			return f.r.isMade(c, v)
		}
	}
	return false
}

func (f *looseFlow) releasedBy(n ast.Node) bool {
	return slices.ContainsFunc(f.by, func(by ast.Node) bool { return isIn(by, n) })
}

func (f *looseFlow) behind(n ast.Node, before bool) bool {
	return !f.releasedBy(n) && (before && !f.replaces(n) || f.gets(n))
}

func (f *looseFlow) awaitedBefore(nodes []ast.Node, behind bool) bool {
	for _, n := range nodes {
		if f.releasedBy(n) || f.givesBack(n) {
			return true
		}
		if len(f.stores) == 0 && f.gets(n) || f.replaces(n) {
			return false
		}
	}
	return behind
}

// givesBack reports whether a node before the defer statements releases the resource as they do.
func (f *looseFlow) givesBack(n ast.Node) bool {
	if f.of.path != "" && len(f.stores) == 0 || n.Pos() > f.by[0].Pos() {
		return false
	}
	known, ok := f.back[n]
	if !ok {
		if f.ways.of == nil {
			f.ways = f.r.waysOf(f.c, f.of, f.release)
		}
		known = f.r.givesBack(n, f.ways)
		f.back[n] = known
	}
	return known
}

// replaces reports whether a node assigns another value to the variable in which values are stored.
func (f *looseFlow) replaces(n ast.Node) bool {
	assign, ok := n.(*ast.AssignStmt)
	return ok && len(f.stores) > 0 && !f.gets(n) && slices.ContainsFunc(assign.Lhs, func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return ok && f.r.info.ObjectOf(id) == f.of.v
	}) && !slices.ContainsFunc(assign.Rhs, f.r.isAppend)
}

// gets reports whether a node may acquire the resource: it assigns the variable from a call, or
// uses the expression.
func (f *looseFlow) gets(n ast.Node) bool {
	if known, ok := f.got[n]; ok {
		return known
	}
	found := false
	if len(f.stores) > 0 {
		found = slices.ContainsFunc(f.stores, func(s ast.Node) bool { return isIn(s, n) })
	} else if f.of.path == "" {
		found = f.r.makesVar(f.c, n, f.of.v)
	} else {
		f.r.usesIn(n, false, func(e ast.Expr, _ usage) {
			of, ok := f.r.resourceOf(f.c, e)
			found = found || ok && of == f.of
		})
	}
	f.got[n] = found
	return found
}

// failed reports whether the condition at the end of a block, if its value is so, says that the
// acquisition before it failed: the condition compares the error of the acquisition with nil.
func (f *looseFlow) failed(b *cfg.Block, so bool) bool {
	n := len(b.Nodes)
	if n == 0 || len(b.Succs) != 2 {
		return false
	}
	cond, ok := b.Nodes[n-1].(*ast.BinaryExpr)
	if !ok || cond.Op != token.NEQ && cond.Op != token.EQL || so != (cond.Op == token.NEQ) {
		return false
	}
	id, ok := ast.Unparen(cond.X).(*ast.Ident)
	if !ok || !f.r.info.Types[cond.Y].IsNil() || types.TypeString(f.r.info.TypeOf(id), nil) != "error" {
		return false
	}
	return f.isErrorOf(b.Nodes[:n-1], f.r.info.ObjectOf(id))
}

// isErrorOf reports whether the variable contains the error of the acquisition after the nodes: the
// last of them that assigns the variable acquires the resource, or every assignment in the function
// does.
func (f *looseFlow) isErrorOf(nodes []ast.Node, err types.Object) bool {
	for _, n := range slices.Backward(nodes) {
		if f.r.makesVar(f.c, n, err) {
			return f.gets(n)
		}
	}
	always := true
	f.c.walk(func(n ast.Node, _ []ast.Node) {
		switch n.(type) {
		case *ast.AssignStmt, *ast.ValueSpec:
			always = always && (!f.r.makesVar(f.c, n, err) || f.gets(n))
		}
	})
	return always
}

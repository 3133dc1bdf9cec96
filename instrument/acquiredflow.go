package instrument

import (
	"cmp"
	"fmt"
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
	if len(c.defers) == 0 {
		return
	}
	g := cfg.New(c.body, func(*ast.CallExpr) bool { return true })
	loose := map[ast.Node]looseStretch{}
	for _, d := range c.defers {
		if _, later := ast.Unparen(d.Call.Fun).(*ast.CallExpr); !later {
			// the text may not show what the previous statement acquires
			loose[d] = looseStretch{node: d}
		}
	}
	released := r.releases(c)
	for _, of := range slices.SortedFunc(maps.Keys(released), resource.compare) {
		f := looseFlow{r: r, c: c, of: of, by: released[of], acquired: map[*cfg.Block]bool{}, awaited: map[*cfg.Block]bool{}, got: map[ast.Node]bool{}}
		f.follow(g, loose)
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

// looseStretch is a node at which a resource is loose, with the text between the previous node and
// it, or a loop at the head of whose body a resource is loose, as far as this head.
type looseStretch struct {
	span
	node ast.Node
	of   resource       // unknown for some defer statements
	by   *ast.DeferStmt // it will release the resource
	// a poll, or a call that may poll, is in the node
	polls bool
}

// isLoose reports whether a throw at p would lose a resource.
func (c *code) isLoose(p token.Pos) bool {
	return slices.ContainsFunc(c.loose, func(s looseStretch) bool { return s.has(p) && p < s.to })
}

// looseFlow follows one resource through a function's control flow.
type looseFlow struct {
	r        *rewriter
	c        *code
	of       resource
	by       []*ast.DeferStmt
	acquired map[*cfg.Block]bool // it may be acquired at the block's beginning
	// a defer statement may follow the block, before another acquisition
	awaited map[*cfg.Block]bool
	got     map[ast.Node]bool
}

// follow adds the nodes to loose at which the resource is acquired and a defer statement follows,
// and the loops of which this is true at the head of the body.
func (f *looseFlow) follow(g *cfg.CFG, loose map[ast.Node]looseStretch) {
	f.acquired[g.Blocks[0]] = f.isGiven()
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
				if !awaited && f.awaitedBefore(next.Nodes, f.awaited[next]) {
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

// isGiven reports whether the resource is a parameter: the caller has acquired it.
func (f *looseFlow) isGiven() bool {
	v, ok := f.of.v.(*types.Var)
	return ok && v.Kind() == types.ParamVar && v.Name() == f.of.path && f.c.declares(v)
}

func (f *looseFlow) releasedBy(n ast.Node) bool {
	d, ok := n.(*ast.DeferStmt)
	return ok && slices.Contains(f.by, d)
}

func (f *looseFlow) behind(n ast.Node, before bool) bool {
	return !f.releasedBy(n) && (before || f.gets(n))
}

func (f *looseFlow) awaitedBefore(nodes []ast.Node, behind bool) bool {
	for _, n := range nodes {
		if f.releasedBy(n) {
			return true
		}
		if f.gets(n) {
			return false
		}
	}
	return behind
}

// gets reports whether a node may acquire the resource: it assigns the variable from a call, or
// uses the expression.
func (f *looseFlow) gets(n ast.Node) bool {
	if known, ok := f.got[n]; ok {
		return known
	}
	found := false
	if f.of.path == "" {
		found = f.r.makesVar(n, f.of.v)
	} else {
		f.r.usesIn(n, func(e ast.Expr, _ bool) {
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

// isErrorOf reports whether the variable contains the error of the acquisition behind the nodes:
// the last of them that assigns the variable acquires the resource, or every assignment in the
// function does.
func (f *looseFlow) isErrorOf(nodes []ast.Node, err types.Object) bool {
	for _, n := range slices.Backward(nodes) {
		if f.r.makesVar(n, err) {
			return f.gets(n)
		}
	}
	always := true
	f.c.walk(func(n ast.Node, _ []ast.Node) {
		switch n.(type) {
		case *ast.AssignStmt, *ast.ValueSpec:
			always = always && (!f.r.makesVar(n, err) || f.gets(n))
		}
	})
	return always
}

// keepLoose registers the lines on which a poll in a loose stretch, or in a call there, would
// throw. A task can be suspended there.
func (r *rewriter) keepLoose(c *code) {
	for i := range c.heads {
		s := &c.heads[i]
		s.polls = slices.ContainsFunc(c.loops, func(l *loop) bool { return l.stmt == s.node && (l.polls || l.every > 0) })
		if s.polls {
			for _, line := range r.linesOf(s.span) {
				r.ends[line] = true
			}
		}
	}
	for i := range c.loose {
		s := &c.loose[i]
		ast.PreorderStack(s.node, nil, func(n ast.Node, stack []ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && !isLater(call, stack) && r.comesToPoll(call) {
				r.ends[r.placeOf(call.Lparen)] = true
				s.polls = true
			}
			_, lit := n.(*ast.FuncLit)
			return !lit
		})
	}
	for _, p := range c.polls {
		if c.isLoose(c.continuesAt(p)) {
			r.ends[r.placeOf(p)] = true
		}
	}
}

// keptLoose returns the first place of each resource at which a loop or a call polls between the
// acquisition and the defer statement.
func (r *rewriter) keptLoose(c *code) (all []Kept) {
	seen := map[resource]bool{}
	for _, s := range slices.Concat(c.loose, c.heads) {
		if !s.polls || s.of.v == nil || s.node == s.by || seen[s.of] {
			continue
		}
		seen[s.of] = true
		why := fmt.Sprintf("%s may have to be released, and line %d defers that", cmp.Or(s.of.path, s.of.v.Name()), r.set.Position(s.by.Pos()).Line)
		all = append(all, Kept{c.name, r.set.Position(s.node.Pos()), why})
	}
	return all
}

// continuesAt returns the label if the statement at p is a goto, or p.
func (c *code) continuesAt(p token.Pos) token.Pos {
	labels, name := map[string]token.Pos{}, ""
	c.walk(func(n ast.Node, _ []ast.Node) {
		switch n := n.(type) {
		case *ast.LabeledStmt:
			labels[n.Label.Name] = n.Pos()
		case *ast.BranchStmt:
			if n.Tok == token.GOTO && n.Pos() == p {
				name = n.Label.Name
			}
		}
	})
	return cmp.Or(labels[name], p)
}

// isLater reports whether the innermost node is the call of a defer or go statement.
func isLater(call *ast.CallExpr, stack []ast.Node) bool {
	if len(stack) == 0 {
		return false
	}
	switch s := stack[len(stack)-1].(type) {
	case *ast.DeferStmt:
		return s.Call == call
	case *ast.GoStmt:
		return s.Call == call
	}
	return false
}

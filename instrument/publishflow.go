package instrument

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/cfg"
)

// keptStretch is a stretch in which a function has published a value and will write to it again.
type keptStretch struct {
	by     publication
	spans  []span
	last   token.Pos // the last place that writes the value
	ticket bool      // by is a ticket, not a publication
}

// keepPublished finds where the function must not be unwound, because a published value is
// incomplete, and notes these lines like lines with deferred calls.
func (r *rewriter) keepPublished(c *code) {
	all := r.publications(c)
	if len(all) == 0 {
		return
	}
	g := cfg.New(c.body, func(*ast.CallExpr) bool { return true })
	for _, p := range all {
		if r.takenBack(c, p) {
			continue
		}
		v := r.valueOf(c, p.what, p.whole)
		r.keep(c, keptStretch{by: p}, newPublishFlow(r, c, p, func(n ast.Node) bool { return r.writes(c, n, v) }), g)
	}
}

// keep adds a stretch to the function's, unless it is empty.
func (r *rewriter) keep(c *code, k keptStretch, f publishFlow, g *cfg.CFG) {
	if k.spans, k.last = f.spans(g); len(k.spans) == 0 {
		return
	}
	c.kept = append(c.kept, k)
	for _, s := range k.spans {
		for _, line := range r.linesOf(s) {
			r.ends[line] = true
		}
	}
}

// publishFlow follows one publication through a function's control flow.
type publishFlow struct {
	r         *rewriter
	c         *code
	p         publication
	isWrite   func(ast.Node) bool
	written   map[ast.Node]bool
	published map[*cfg.Block]bool // the value may be published at the block's beginning
	awaited   map[*cfg.Block]bool // the value may be written after the block's end
}

func newPublishFlow(r *rewriter, c *code, p publication, isWrite func(ast.Node) bool) publishFlow {
	return publishFlow{
		r: r, c: c, p: p, isWrite: isWrite, written: map[ast.Node]bool{}, published: map[*cfg.Block]bool{}, awaited: map[*cfg.Block]bool{},
	}
}

// spans returns the stretches in which the value is published and will be written, and the last
// write.
func (f *publishFlow) spans(g *cfg.CFG) (kept []span, last token.Pos) {
	for changed := true; changed; {
		changed = false
		for _, b := range g.Blocks {
			published, awaited := f.published[b], f.awaited[b]
			for _, n := range b.Nodes {
				published = f.publishedBehind(n, published)
			}
			for _, next := range b.Succs {
				if published && !f.published[next] {
					f.published[next], changed = true, true
				}
				if f.awaitedBefore(next.Nodes, f.awaited[next]) && !awaited {
					awaited, changed = true, true
				}
			}
			f.awaited[b] = awaited
		}
	}
	for _, b := range g.Blocks {
		published := f.published[b]
		if published && f.awaitedBefore(b.Nodes, f.awaited[b]) && (b.Kind == cfg.KindForBody || b.Kind == cfg.KindRangeBody) {
			kept = append(kept, span{b.Stmt.Pos(), bodyOf(b.Stmt).Lbrace})
		}
		for i, n := range b.Nodes {
			if published && f.awaitedBefore(b.Nodes[i:], f.awaited[b]) {
				kept = append(kept, span{n.Pos(), n.End()})
				if f.writes(n) {
					last = max(last, n.Pos())
				}
			}
			published = f.publishedBehind(n, published)
		}
	}
	return kept, last
}

func (f *publishFlow) publishedBehind(n ast.Node, before bool) bool {
	return f.publishes(n) || before && !f.renews(n)
}

// awaitedBefore reports whether the value may be written in the nodes or after them.
func (f *publishFlow) awaitedBefore(nodes []ast.Node, behind bool) bool {
	for _, n := range nodes {
		if f.writes(n) {
			return true
		}
		if f.renews(n) {
			return false
		}
	}
	return behind
}

func (f *publishFlow) writes(n ast.Node) bool {
	if known, ok := f.written[n]; ok {
		return known
	}
	f.written[n] = !f.publishes(n) && f.isWrite(n)
	return f.written[n]
}

// publishes reports whether the node contains the publication.
func (f *publishFlow) publishes(n ast.Node) bool {
	return n.Pos() <= f.p.node.Pos() && f.p.node.End() <= n.End()
}

// renews reports whether the node assigns another value to the variable.
func (f *publishFlow) renews(n ast.Node) (found bool) {
	if id, ok := n.(*ast.Ident); ok {
		return f.r.info.Defs[id] == f.p.what // of a range statement
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				if id, ok := ast.Unparen(to).(*ast.Ident); ok {
					found = found || f.r.info.Defs[id] == f.p.what || !f.p.whole && f.r.info.Uses[id] == f.p.what
				}
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				found = found || f.r.info.Defs[id] == f.p.what
			}
		}
		return !found
	})
	return found
}

// takenBack reports whether a deferred call unconditionally deletes the published value: then a
// throw does not leave it there.
func (r *rewriter) takenBack(c *code, p publication) (found bool) {
	into := r.object(ast.Unparen(p.into))
	if into == nil {
		return false
	}
	c.walk(func(n ast.Node, _ []ast.Node) {
		d, ok := n.(*ast.DeferStmt)
		if !ok || found {
			return
		}
		if lit, ok := ast.Unparen(d.Call.Fun).(*ast.FuncLit); ok {
			found = r.deletes(lit.Body.List, into)
			return
		}
		if target, to, _ := r.callee(d.Call); target == own && to != nil {
			found = r.deletes(to.body.List, into)
			return
		}
		found = r.isDelete(d.Call, into)
	})
	return found
}

// deletes reports whether one of the statements, nested statements excluded, deletes from a map.
func (r *rewriter) deletes(list []ast.Stmt, from types.Object) bool {
	for _, s := range list {
		if e, ok := s.(*ast.ExprStmt); ok {
			if call, ok := ast.Unparen(e.X).(*ast.CallExpr); ok && r.isDelete(call, from) {
				return true
			}
		}
	}
	return false
}

func (r *rewriter) isDelete(call *ast.CallExpr, from types.Object) bool {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return fun.Name == "delete" && len(call.Args) == 2 && r.object(ast.Unparen(call.Args[0])) == from
	case *ast.SelectorExpr:
		return (fun.Sel.Name == "Delete" || fun.Sel.Name == "LoadAndDelete" || fun.Sel.Name == "CompareAndDelete") &&
			r.object(ast.Unparen(fun.X)) == from
	}
	return false
}

// why returns the reason for the stretch.
func (k keptStretch) why(r *rewriter) string {
	if k.ticket {
		return k.whyTicket(r)
	}
	return fmt.Sprintf("%s is in %s, and written as far as line %d", k.by.what.Name(), types.ExprString(k.by.into), r.set.Position(k.last).Line)
}

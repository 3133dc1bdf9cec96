package instrument

import (
	"go/ast"
	"go/types"
)

// On a path without the defer statement, such as the branch of an error, the function may release
// the resource by the same calls and sends as its deferred calls. Nothing is thrown before these
// either: half of several resources would be lost.

// ways are the calls and sends by which later calls release a resource.
type ways struct {
	calls map[types.Object]bool
	sends map[string]bool
	of    map[types.Object]bool // the resource, and variables that range over it
}

func (r *rewriter) waysOf(c *code, of resource, by *release) (w ways) {
	w = ways{map[types.Object]bool{}, map[string]bool{}, map[types.Object]bool{of.v: true}}
	note := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			switch to := r.object(ast.Unparen(n.Fun)).(type) {
			case *types.Func, *types.Var:
				w.calls[to] = true
			}
		case *ast.SendStmt:
			w.sends[types.ExprString(n.Chan)] = true
		}
		return true
	}
	for _, call := range by.calls {
		ast.Inspect(call, note)
		for _, lit := range r.closures[r.object(ast.Unparen(call.Fun))] {
			ast.Inspect(lit.Body, note)
		}
	}
	c.walk(func(n ast.Node, _ []ast.Node) {
		if loop, ok := n.(*ast.RangeStmt); ok && r.first(loop.X) == of.v {
			if id, ok := loop.Value.(*ast.Ident); ok {
				w.of[r.info.Defs[id]] = true
			}
		}
	})
	return w
}

// givesBack reports whether a node releases the resource in one of the ways.
func (r *rewriter) givesBack(n ast.Node, w ways) (found bool) {
	has := func(e ast.Expr) bool { v := r.first(e); return v != nil && w.of[v] }
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
			return false
		case *ast.SendStmt:
			found = found || w.sends[types.ExprString(n.Chan)] && has(n.Value)
		case *ast.CallExpr:
			fun := ast.Unparen(n.Fun)
			if !w.calls[r.object(fun)] {
				return true
			}
			sel, isMethod := fun.(*ast.SelectorExpr)
			found = found || isMethod && has(sel.X)
			for _, arg := range n.Args {
				found = found || has(arg)
			}
		}
		return !found
	})
	return found
}

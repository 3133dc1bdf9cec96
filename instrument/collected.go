package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A function may put what it acquires into other variables, which a result releases that its caller
// defers (entrusted.go):
//
//	closeAll = func() { for _, c := range all { c.Close() } }
//	for range n {
//		c := dial()
//		all = append(all, c)
//	}
//	return all, closeAll

// addStored adds the variables that the function stores in variables of all, or in their parts. A
// literal in a variable of its own is known already.
func (r *rewriter) addStored(c *code, stores []store, all map[*types.Var][]string) {
	more := len(all) > 0
	add := func(v *types.Var, path string) {
		if !slices.Contains(all[v], path) {
			all[v], more = append(all[v], path), true
		}
	}
	for more {
		more = false
		for _, s := range stores {
			to := r.first(s.to)
			if to == nil || !coversField(all[to], to, types.ExprString(holder(s.to))) {
				continue
			}
			for _, value := range s.values() {
				if lit, ok := ast.Unparen(value).(*ast.FuncLit); ok {
					if s.element || s.adds {
						r.usedBy(c, lit, add)
					}
					continue
				}
				for _, v := range r.variablesIn(c, value) {
					if v != to {
						add(v, v.Name())
					}
				}
			}
		}
	}
}

// collected returns the stores by which the function adds acquired values to a variable: in an
// element, or by append.
func (r *rewriter) collected(c *code, stores []store, makers map[*types.Var][]ast.Node, v *types.Var) (all []ast.Node) {
	for _, s := range stores {
		if !s.element && !s.adds || r.first(s.to) != v {
			continue
		}
		if slices.ContainsFunc(s.values(), func(e ast.Expr) bool {
			return r.takes(e) || slices.ContainsFunc(r.variablesIn(c, e), func(from *types.Var) bool { return len(makers[from]) > 0 })
		}) {
			all = append(all, s.node)
		}
	}
	return all
}

// lastUses returns the calls, channel operations and assignments by which the function may acquire
// something from a parameter, of which one of the paths is released: semaphore.take().
func (r *rewriter) lastUses(c *code, v *types.Var, paths []string) (all []ast.Node) {
	c.walk(func(n ast.Node, stack []ast.Node) {
		see := func(e ast.Expr, _ usage) {
			e = holder(e)
			if e != nil && r.first(e) == v && coversField(paths, v, types.ExprString(e)) && !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			if target, _, _ := r.callee(n); target != conversion && !inDeferred(stack) {
				r.usesOf(n, false, see)
			}
		case *ast.SendStmt:
			see(n.Chan, operated)
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				see(n.X, operated)
			}
		case *ast.IncDecStmt:
			see(n.X, passed)
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				see(to, passed)
			}
		}
	})
	return all
}

// keepers returns the stores after which the variable still has what it had before: all, items =
// append(all, c), 1, or b, a = a, b, or c = wrap(c).
func (r *rewriter) keepers(stores []ast.Node, v *types.Var) (all []ast.Node) {
	for _, s := range stores {
		assign, ok := s.(*ast.AssignStmt)
		if !ok {
			continue
		}
		keeps := !slices.ContainsFunc(assign.Lhs, func(e ast.Expr) bool {
			id, ok := ast.Unparen(e).(*ast.Ident)
			return ok && r.info.ObjectOf(id) == v
		})
		for _, from := range assign.Rhs {
			ast.Inspect(from, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				keeps = keeps || ok && r.info.Uses[id] == v
				return !keeps
			})
		}
		if keeps {
			all = append(all, s)
		}
	}
	return all
}

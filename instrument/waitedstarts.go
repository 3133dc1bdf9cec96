package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// startsOf returns the places at which the function starts goroutines of a group, itself or by
// passing the group on, or goroutines that have the channel, or sends the channel to one.
func (r *rewriter) startsOf(c *code, f *fanOut) (all []ast.Node) {
	ast.Inspect(c.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			if !f.group && r.reaches(c, n.Call, f.of) {
				all = append(all, n)
			}
		case *ast.SendStmt:
			if v, ok := f.of.(*types.Var); ok && !f.group && slices.Contains(r.variablesIn(c, n.Value), v) {
				all = append(all, n)
			}
		case *ast.CallExpr:
			sel, _ := ast.Unparen(n.Fun).(*ast.SelectorExpr)
			launches := sel != nil && (sel.Sel.Name == "Go" || sel.Sel.Name == "TryGo")
			switch {
			case !f.group:
				if launches && slices.ContainsFunc(n.Args, func(arg ast.Expr) bool { return r.reaches(c, arg, f.of) }) {
					all = append(all, n)
				}
			case sel != nil && (launches || sel.Sel.Name == "Add") && r.isThe(f.awaiting, sel.X),
				slices.ContainsFunc(n.Args, func(arg ast.Expr) bool { return r.isThe(f.awaiting, arg) }):
				all = append(all, n)
			}
		}
		return true
	})
	return all
}

// isThe reports whether an expression is the group, or its address.
func (r *rewriter) isThe(a awaiting, e ast.Expr) bool {
	e = ast.Unparen(e)
	if address, ok := e.(*ast.UnaryExpr); ok && address.Op == token.AND {
		e = ast.Unparen(address.X)
	}
	of, _ := r.root(e)
	return of == a.of && types.ExprString(e) == a.path
}

// reaches reports whether code uses a variable. The name of a variable with a literal counts as
// the literal.
func (r *rewriter) reaches(c *code, n ast.Node, v types.Object) (found bool) {
	var literals []types.Object
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			of, _ := r.info.Uses[id].(*types.Var)
			found = found || of != nil && of == v
			if of != nil && c.declares(of) && isFunction(of.Type()) {
				literals = append(literals, of)
			}
		}
		return !found
	})
	if found || len(literals) == 0 {
		return found
	}
	ast.Inspect(c.body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			return !found
		}
		for i, to := range a.Lhs {
			id, _ := to.(*ast.Ident)
			lit, isLit := a.Rhs[i].(*ast.FuncLit)
			if id != nil && isLit && slices.Contains(literals, r.info.ObjectOf(id)) {
				found = found || r.mentions(lit, v)
			}
		}
		return !found
	})
	return found
}

func isFunction(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

// mayClose reports whether any code may close a channel of the function. If none does, a loop over
// the channel never ends, and the function does not wait for goroutines by it.
func (r *rewriter) mayClose(c *code, channel *types.Var) (found bool) {
	ast.PreorderStack(c.body, nil, func(n ast.Node, stack []ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || r.info.Uses[id] != channel {
			return !found
		}
		switch around := stack[len(stack)-1].(type) {
		case *ast.SendStmt:
			found = found || around.Value == id
		case *ast.UnaryExpr:
			found = found || around.Op != token.ARROW
		case *ast.RangeStmt:
		default:
			found = true
		}
		return !found
	})
	return found
}

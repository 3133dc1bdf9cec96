package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// isMade reports whether the function, or one of its literals, assigns an acquired value to the
// variable: from a call, a channel, or a collection that the function removes it from.
func (r *rewriter) isMade(c *code, v *types.Var) bool {
	if known, ok := r.assigned[v]; ok {
		return known
	}
	r.assigned[v] = r.makesVar(c, c.body, v)
	return r.assigned[v]
}

// makesVar reports whether a piece of the function's code assigns an acquired value to the
// variable.
func (r *rewriter) makesVar(c *code, n ast.Node, v types.Object) (found bool) {
	is := func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return ok && r.info.ObjectOf(id) == v
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.DeferStmt:
			return false
		case *ast.AssignStmt:
			found = found || slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return is(ast.Unparen(e)) }) &&
				(slices.ContainsFunc(n.Rhs, r.takes) || len(n.Rhs) == 1 && r.removes(c, n.Rhs[0], n.Pos()))
		case *ast.ValueSpec:
			found = found || slices.ContainsFunc(n.Names, func(id *ast.Ident) bool { return is(id) }) && slices.ContainsFunc(n.Values, r.takes)
		case *ast.RangeStmt:
			found = found || r.rangesOver(n) && (is(n.Key) || is(n.Value))
		}
		return !found
	})
	return found
}

// rangesOver reports whether each iteration of a loop may acquire its variables: the loop receives
// them from a channel or an iterator.
func (r *rewriter) rangesOver(loop *ast.RangeStmt) bool {
	t := r.info.TypeOf(loop.X)
	if t == nil {
		return false
	}
	switch core(t).(type) {
	case *types.Chan, *types.Signature:
		return true
	}
	return false
}

// takes reports whether a value comes from a call or a channel.
func (r *rewriter) takes(value ast.Expr) (found bool) {
	ast.Inspect(value, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			target, _, _ := r.callee(n)
			found = found || target != conversion && target != builtin
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

// removes reports whether a value is an element or a field, and the function changes, after p, the
// field, deletes the element, or shortens the slice: it takes the value from there.
func (r *rewriter) removes(c *code, value ast.Expr, p token.Pos) (found bool) {
	value = ast.Unparen(value)
	index, isIndex := value.(*ast.IndexExpr)
	_, isField := value.(*ast.SelectorExpr)
	if !isIndex && (!isField || r.first(value) == nil) {
		return false
	}
	from := value
	if isIndex {
		from = index.X
	}
	name := types.ExprString(from)
	c.walk(func(n ast.Node, _ []ast.Node) {
		if found || n.Pos() <= p {
			return
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = n.Tok == token.ASSIGN && slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool {
				if i, ok := ast.Unparen(e).(*ast.IndexExpr); ok && isIndex {
					e = i.X // p.free[n] = nil
				}
				return types.ExprString(e) == name
			})
		case *ast.CallExpr:
			id, ok := ast.Unparen(n.Fun).(*ast.Ident)
			found = ok && isIndex && id.Name == "delete" && len(n.Args) == 2 && types.ExprString(n.Args[0]) == name
		}
	})
	return found
}

// variablesIn returns the function's variables that are part of a value: not the arguments of
// calls, other than append, nor what a field or an index is taken of.
func (r *rewriter) variablesIn(c *code, value ast.Expr) (all []*types.Var) {
	ast.Inspect(value, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			all = append(all, r.capturedBy(c, n)...)
			return false
		case *ast.CallExpr:
			target, _, _ := r.callee(n)
			return target == conversion || r.isAppend(n)
		case *ast.UnaryExpr:
			return n.Op != token.ARROW
		case *ast.SelectorExpr:
			s := r.info.Selections[n]
			return s == nil || s.Kind() != types.FieldVal // a method value contains its receiver
		case *ast.IndexExpr:
			return false
		case *ast.Ident:
			if v, ok := r.info.Uses[n].(*types.Var); ok && c.declares(v) && !r.isNoResource(n) && !isBasic(v.Type()) {
				all = append(all, v)
			}
		}
		return true
	})
	return all
}

// capturedBy returns the function's variables that a literal captures, and that may be resources.
func (r *rewriter) capturedBy(c *code, lit *ast.FuncLit) (all []*types.Var) {
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := r.info.Uses[id].(*types.Var)
		if ok && c.declares(v) && (v.Pos() < lit.Pos() || v.Pos() >= lit.End()) && !r.isNoResource(id) && !isBasic(v.Type()) {
			all = append(all, v)
		}
		return true
	})
	return all
}

package instrument

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A function acquires a resource, and releases it by a deferred call:
//
//	c, err := acquire(ctx)
//	if err != nil {
//		return err
//	}
//	defer c.Close(context.WithoutCancel(ctx))
//
// Nothing is thrown between the acquisition and the defer statement: a throw there would lose the
// resource. The text does not show which calls acquire. So every variable that a deferred call uses
// counts as a resource, from the call that assigned it to the first defer statement that uses it.
// Other expressions, such as a field or a parameter, count from the last use in a call before the
// defer statement.

// resource is what a deferred call uses: a variable, or an expression that begins with one.
type resource struct {
	v types.Object
	// the expression; "" for a variable that the function assigns from a call
	path string
}

func (of resource) compare(other resource) int {
	return cmp.Or(cmp.Compare(of.v.Pos(), other.v.Pos()), cmp.Compare(of.path, other.path))
}

// releases returns the resources of the deferred calls of the function, each with the defer
// statements that end its stretch. If a deferred call calls a resource, or one of its methods, the
// deferred calls that only pass the resource on do not count: they may be for a log.
func (r *rewriter) releases(c *code) map[resource][]*ast.DeferStmt {
	called, all := map[resource][]*ast.DeferStmt{}, map[resource][]*ast.DeferStmt{}
	for _, d := range c.defers {
		r.usesOf(d.Call, func(e ast.Expr, calls bool) {
			of, ok := r.resourceOf(c, e)
			if !ok || d.Pos() <= of.v.Pos() && of.v.Pos() < d.End() { // a variable of the literal
				return
			}
			for by, m := range map[bool]map[resource][]*ast.DeferStmt{true: all, calls: called} {
				if by && !slices.Contains(m[of], d) {
					m[of] = append(m[of], d)
				}
			}
		})
	}
	for of, by := range called {
		all[of] = by
	}
	return all
}

// usesOf visits the expressions that a call uses, and those that the call's literal uses: receivers
// and called functions (calls is true), arguments, channels, and assigned expressions.
func (r *rewriter) usesOf(call *ast.CallExpr, visit func(e ast.Expr, calls bool)) {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.FuncLit:
		r.usesIn(fun.Body, visit)
	case *ast.SelectorExpr:
		visit(fun.X, true)
		if _, field := r.info.Uses[fun.Sel].(*types.Var); field {
			visit(fun, true)
		}
	default:
		visit(fun, true)
	}
	for _, arg := range call.Args {
		visit(arg, false)
	}
}

// usesIn is usesOf for all calls in a piece of code, except for calls that it starts or defers.
func (r *rewriter) usesIn(n ast.Node, visit func(e ast.Expr, calls bool)) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.DeferStmt:
			return false
		case *ast.CallExpr:
			if way, _, _ := r.callee(n); way == conversion {
				return true
			}
			if _, lit := ast.Unparen(n.Fun).(*ast.FuncLit); !lit {
				r.usesOf(n, visit)
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				visit(n.X, true)
			}
		case *ast.SendStmt:
			visit(n.Chan, true)
		case *ast.IncDecStmt:
			visit(n.X, false)
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				visit(to, false)
			}
		}
		return true
	})
}

// resourceOf returns the resource that an expression stands for.
func (r *rewriter) resourceOf(c *code, e ast.Expr) (of resource, ok bool) {
	e = holder(e)
	if e == nil || r.isNoResource(e) {
		return of, false
	}
	v := r.first(e)
	if v == nil {
		return of, false
	}
	if c.declares(v) && r.isMade(c, v) {
		return resource{v, ""}, true
	}
	return resource{v, types.ExprString(e)}, true
}

// holder returns the part of an expression that contains its resource: the receiver of a method
// call, the operand of a conversion, an index or an address. It returns nil for literals.
func holder(e ast.Expr) ast.Expr {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.CallExpr:
			sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
			if !ok {
				return nil
			}
			e = sel.X
		case *ast.StarExpr:
			e = x.X
		case *ast.UnaryExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.TypeAssertExpr:
			e = x.X
		case *ast.Ident, *ast.SelectorExpr:
			return x
		default:
			return nil
		}
	}
}

// first returns the variable at which a selector begins, or nil.
func (r *rewriter) first(e ast.Expr) *types.Var {
	for {
		switch x := holder(e).(type) {
		case *ast.Ident:
			v, _ := r.info.ObjectOf(x).(*types.Var)
			return v
		case *ast.SelectorExpr:
			if v, ok := r.info.Uses[x.Sel].(*types.Var); ok && !v.IsField() {
				return v // of another package
			}
			e = x.X
		default:
			return nil
		}
	}
}

// isNoResource reports whether a value has a type that deferred calls use, and that need not be
// released.
func (r *rewriter) isNoResource(e ast.Expr) bool {
	t := r.info.TypeOf(e)
	if t == nil {
		return false
	}
	switch types.TypeString(t, nil) {
	case "error", "context.Context", "time.Time":
		return true
	}
	return false
}

// isMade reports whether a call of the function, or of one of its literals, assigns the variable.
func (r *rewriter) isMade(c *code, v *types.Var) bool {
	if known, ok := r.assigned[v]; ok {
		return known
	}
	r.assigned[v] = r.makesVar(c.body, v)
	return r.assigned[v]
}

// makesVar reports whether a piece of code assigns the variable from a call or a channel.
func (r *rewriter) makesVar(n ast.Node, v types.Object) (found bool) {
	is := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && r.info.ObjectOf(id) == v
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.DeferStmt:
			return false
		case *ast.AssignStmt:
			found = found || slices.ContainsFunc(n.Lhs, is) && slices.ContainsFunc(n.Rhs, r.takes)
		case *ast.ValueSpec:
			found = found || slices.ContainsFunc(n.Names, func(id *ast.Ident) bool { return is(id) }) && slices.ContainsFunc(n.Values, r.takes)
		}
		return !found
	})
	return found
}

// takes reports whether a value comes from a call or a channel.
func (r *rewriter) takes(value ast.Expr) (found bool) {
	ast.Inspect(value, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			way, _, _ := r.callee(n)
			found = found || way != conversion && way != builtin
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

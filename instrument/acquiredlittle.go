package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A deferred call may release what may be lost without harm:
//
//	timeout := time.NewTimer(time.Minute)
//	answer := compute()
//	defer timeout.Stop()
//
// Such a call uses nothing, like one that only tells something (acquiredtold.go):
//
//   - Stop of a timer or ticker that the function has made. A timer of time.AfterFunc is another
//     matter: if it is lost, it calls its function.
//   - A function that cancels a context which the function has made with a deadline, or from one of
//     its parameters. A throw ends the context of the task, and contexts made from it.
//   - Close of the body of a request in a server's handler: the server closes it.

// losesLittle reports whether a deferred call of the function, or each call in the literal that it
// defers, by itself or as the value of a variable, releases only such a value.
func (r *rewriter) losesLittle(c *code, call *ast.CallExpr) bool {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.FuncLit:
		return !slices.ContainsFunc(fun.Body.List, func(s ast.Stmt) bool {
			stmt, ok := s.(*ast.ExprStmt)
			if !ok {
				return true
			}
			inner, ok := ast.Unparen(stmt.X).(*ast.CallExpr)
			return !ok || !r.losesLittle(c, inner)
		})
	case *ast.Ident:
		v, ok := r.info.Uses[fun].(*types.Var)
		if !ok {
			return false
		}
		if lit := r.onlyLiteral(c, fun, v); lit != nil {
			return r.losesLittle(c, &ast.CallExpr{Fun: lit})
		}
		return r.onlyFrom(c, v, r.makesBoundContext)
	case *ast.SelectorExpr:
		f, ok := r.object(fun).(*types.Func)
		if !ok {
			return false
		}
		if v, ok := r.object(ast.Unparen(fun.X)).(*types.Var); ok && dispensable[f.FullName()] && receiverOf(f) != "Value" {
			return r.onlyFrom(c, v, r.makesTimer)
		}
		return f.Name() == "Close" && r.isServersBody(c, fun.X)
	}
	return false
}

// onlyFrom reports whether the function declares the variable, and each of its values comes from
// such a call.
func (r *rewriter) onlyFrom(c *code, v *types.Var, makes func(c *code, call *ast.CallExpr) bool) bool {
	if !c.declares(v) || v.Kind() != types.LocalVar {
		return false
	}
	return r.eachValue(c, func(to ast.Expr) bool { return r.isVar(to, v) }, fromCall(func(call *ast.CallExpr) bool { return makes(c, call) }))
}

// onlyLiteral returns the literal that is the only value of a variable which the function calls, or
// nil. The literal comes before the call, so losesLittle, which goes on in it, ends.
func (r *rewriter) onlyLiteral(c *code, called *ast.Ident, v *types.Var) *ast.FuncLit {
	lits := r.closures[v]
	if len(lits) != 1 || lits[0].End() > called.Pos() || !c.declares(v) {
		return nil
	}
	if !r.eachValue(c, func(to ast.Expr) bool { return r.isVar(to, v) }, func(value ast.Expr) bool { return value == lits[0] }) {
		return nil
	}
	return lits[0]
}

func (r *rewriter) isVar(e ast.Expr, v *types.Var) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && r.info.ObjectOf(id) == v
}

// fromCall reports whether a value comes from such a call.
func fromCall(such func(call *ast.CallExpr) bool) func(value ast.Expr) bool {
	return func(value ast.Expr) bool {
		call, ok := value.(*ast.CallExpr)
		return ok && such(call)
	}
}

// eachValue reports whether all values that the function and its literals assign to a place come
// from such expressions. A place of which they take the address may have other values.
func (r *rewriter) eachValue(c *code, is func(to ast.Expr) bool, from func(value ast.Expr) bool) bool {
	all := true
	value := func(values []ast.Expr, i int) {
		all = all && from(ast.Unparen(values[min(i, len(values)-1)]))
	}
	ast.Inspect(c.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			all = all && !(n.Op == token.AND && is(n.X))
		case *ast.RangeStmt:
			all = all && !(n.Key != nil && is(n.Key)) && !(n.Value != nil && is(n.Value))
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if is(to) {
					value(n.Rhs, i)
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if is(id) && len(n.Values) > 0 {
					value(n.Values, i)
				}
			}
		}
		return all
	})
	return all
}

func (r *rewriter) makesTimer(_ *code, call *ast.CallExpr) bool {
	switch r.nameOf(call) {
	case "time.NewTimer", "time.NewTicker":
		return true
	}
	return false
}

// makesBoundContext reports whether a call makes a context that ends soon after a throw.
func (r *rewriter) makesBoundContext(c *code, call *ast.CallExpr) bool {
	switch strings.TrimSuffix(r.nameOf(call), "Cause") {
	case "context.WithTimeout", "context.WithDeadline":
		return true
	case "context.WithCancel":
		return r.isCallers(c, call.Args[0])
	}
	return false
}

// isCallers reports whether a context comes from the function's caller: it is a parameter, or the
// context of a request that is one.
func (r *rewriter) isCallers(c *code, ctx ast.Expr) bool {
	if call, ok := ast.Unparen(ctx).(*ast.CallExpr); ok && r.nameOf(call) == "(*net/http.Request).Context" {
		ctx = call.Fun.(*ast.SelectorExpr).X
	}
	v, ok := r.object(ast.Unparen(ctx)).(*types.Var)
	return ok && v.Kind() == types.ParamVar && c.declares(v) && r.eachValue(c, func(to ast.Expr) bool { return r.isVar(to, v) }, fromCall(func(call *ast.CallExpr) bool {
		return deriving[strings.TrimSuffix(r.nameOf(call), "Cause")]
	}))
}

// deriving are functions whose results end with the context of the caller.
var deriving = map[string]bool{
	"context.WithCancel": true, "context.WithTimeout": true, "context.WithDeadline": true, "context.WithValue": true, "(*net/http.Request).WithContext": true,
}

// nameOf returns the full name of the function that a call calls, or "".
func (r *rewriter) nameOf(call *ast.CallExpr) string {
	if f, ok := r.object(ast.Unparen(call.Fun)).(*types.Func); ok {
		return f.FullName()
	}
	return ""
}

// isServersBody reports whether an expression is the body of the request that a server's handler
// serves. A body that the function itself has put there does not count, unless it only limits the
// size of the server's.
func (r *rewriter) isServersBody(c *code, e ast.Expr) bool {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Body" || types.TypeString(r.info.TypeOf(sel.X), nil) != "*net/http.Request" || !r.handles(c) {
		return false
	}
	v, ok := r.object(ast.Unparen(sel.X)).(*types.Var)
	if !ok || v.Kind() != types.ParamVar || !c.declares(v) {
		return false
	}
	is := func(to ast.Expr) bool {
		field, ok := ast.Unparen(to).(*ast.SelectorExpr)
		return r.isVar(to, v) || ok && field.Sel.Name == "Body" && r.isVar(field.X, v)
	}
	return r.eachValue(c, is, fromCall(func(call *ast.CallExpr) bool { return serving[r.nameOf(call)] }))
}

// serving are functions whose result a handler may store in its request: the body is still the
// server's.
var serving = map[string]bool{
	"net/http.MaxBytesReader": true, "(*net/http.Request).WithContext": true,
}

// handles reports whether the function is a server's handler: it has the writer of the response.
func (r *rewriter) handles(c *code) bool {
	for _, f := range c.typ.Params.List {
		if types.TypeString(r.info.TypeOf(f.Type), nil) == "net/http.ResponseWriter" {
			return true
		}
	}
	return false
}

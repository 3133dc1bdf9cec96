package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// usage is how code uses a value. A larger number says more about the release of the value.
type usage int

const (
	elsewhere usage = iota // a literal that the function calls or starts uses it later
	captured               // a deferred literal reads it
	passed                 // it is an argument, or is assigned
	operated               // it is called, received from, sent or ranged over
)

// laterCall is a call that a function, or a literal in it, has made certain.
type laterCall struct {
	node      ast.Node // from here on
	call      *ast.CallExpr
	elsewhere bool // it is not a deferred call of the function itself
	params    map[types.Object]ast.Expr
}

// laterCalls returns the calls that the function defers or passes to a function such as
// context.AfterFunc, and the calls that are deferred by the literals which it calls or starts. A
// deferred call does not count if without it little is lost.
func (r *rewriter) laterCalls(c *code) (all []laterCall) {
	for _, d := range c.defers {
		if !r.losesLittle(c, d.Call) {
			all = append(all, laterCall{node: d, call: d.Call})
		}
	}
	for _, call := range c.registers {
		all = append(all, laterCall{node: call, call: &ast.CallExpr{Fun: call.Args[len(call.Args)-1]}, elsewhere: true})
	}
	for _, in := range c.runs {
		params := map[types.Object]ast.Expr{}
		i := 0
		for _, f := range in.typ.Params.List {
			for _, name := range f.Names {
				if i < len(in.args) {
					params[r.info.Defs[name]] = in.args[i]
				}
				i++
			}
		}
		for _, l := range r.laterCalls(in) {
			all = append(all, laterCall{node: in.lit, call: l.call, elsewhere: true, params: params})
		}
	}
	return all
}

// callAround returns the innermost call of the nodes around a called literal.
func callAround(stack []ast.Node) *ast.CallExpr {
	for _, n := range slices.Backward(stack) {
		if call, ok := n.(*ast.CallExpr); ok {
			return call
		}
	}
	return nil
}

// nameClosures remembers the variables that literals and method values are assigned to.
func (r *rewriter) nameClosures(n ast.Node) {
	remember := func(to, from ast.Expr) {
		id, ok := to.(*ast.Ident)
		if !ok || r.info.ObjectOf(id) == nil {
			return
		}
		v := r.info.ObjectOf(id)
		switch from := from.(type) {
		case *ast.FuncLit:
			r.closures[v] = append(r.closures[v], from)
		case *ast.SelectorExpr:
			if sel := r.info.Selections[from]; sel != nil && sel.Kind() == types.MethodVal {
				r.receivers[v] = append(r.receivers[v], from.X)
			}
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, from := range n.Rhs[:min(len(n.Rhs), len(n.Lhs))] {
			remember(n.Lhs[i], from)
		}
	case *ast.ValueSpec:
		for i, from := range n.Values[:min(len(n.Values), len(n.Names))] {
			remember(n.Names[i], from)
		}
	}
}

// registering are the functions that run their last argument later: when a context or a test ends.
var registering = map[string]bool{
	"context.AfterFunc": true, "(*testing.common).Cleanup": true, "(testing.TB).Cleanup": true,
}

// registers reports whether a call passes a function that will run later, even after a throw.
func (r *rewriter) registers(call *ast.CallExpr) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "AfterFunc" && sel.Sel.Name != "Cleanup" || len(call.Args) == 0 {
		return false
	}
	f, ok := r.object(sel).(*types.Func)
	return ok && registering[f.FullName()]
}

// usesLater visits the expressions that a later call uses. A variable that contains literals counts
// as these, and a variable that contains method values as their receivers too.
func (r *rewriter) usesLater(l laterCall, visit func(e ast.Expr, how usage)) {
	seen := map[*ast.FuncLit]bool{}
	var see func(e ast.Expr, how usage)
	see = func(e ast.Expr, how usage) {
		id, isName := ast.Unparen(e).(*ast.Ident)
		if isName {
			v := r.info.ObjectOf(id)
			if arg, ok := l.params[v]; ok {
				visit(arg, how)
				return
			}
			if r.isWithin(seen, v) {
				return
			}
			for _, lit := range r.closures[v] {
				if !seen[lit] {
					seen[lit] = true
					r.usesIn(lit.Body, true, see)
				}
			}
			for _, receiver := range r.receivers[v] {
				visit(receiver, how)
			}
		}
		visit(e, how)
	}
	r.usesOf(l.call, true, see)
}

// isWithin reports whether one of the literals declares the object.
func (r *rewriter) isWithin(lits map[*ast.FuncLit]bool, v types.Object) bool {
	for lit := range lits {
		if v != nil && lit.Pos() <= v.Pos() && v.Pos() < lit.End() {
			return true
		}
	}
	return false
}

// usesOf visits the expressions that a call and its literal use. If all is true, the call is made
// later, and usesOf also visits the variables that a literal only reads. A call that only tells
// something uses nothing (see tells).
func (r *rewriter) usesOf(call *ast.CallExpr, all bool, visit func(e ast.Expr, how usage)) {
	if r.tells(call) {
		return
	}
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.FuncLit:
		r.usesIn(fun.Body, all, visit)
	case *ast.SelectorExpr:
		visit(fun.X, operated)
		if _, field := r.info.Uses[fun.Sel].(*types.Var); field {
			visit(fun, operated)
		}
	default:
		visit(fun, operated)
	}
	for _, arg := range call.Args {
		if lit, ok := ast.Unparen(arg).(*ast.FuncLit); ok && all {
			r.usesIn(lit.Body, all, visit)
		}
		visit(arg, passed)
	}
}

// usesIn is usesOf for all calls in a piece of code. Calls that the code starts or defers count
// only if all is true.
func (r *rewriter) usesIn(n ast.Node, all bool, visit func(e ast.Expr, how usage)) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.DeferStmt:
			return all
		case *ast.CallExpr:
			if target, _, _ := r.callee(n); target == conversion {
				return true
			}
			if r.tells(n) {
				r.usesInTold(n, all, visit)
				return false
			}
			if _, lit := ast.Unparen(n.Fun).(*ast.FuncLit); !lit {
				r.usesOf(n, false, visit)
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				visit(n.X, operated)
			}
		case *ast.SendStmt:
			visit(n.Chan, operated)
			if all {
				visit(n.Value, operated)
			}
		case *ast.RangeStmt:
			if all {
				visit(n.X, operated)
			}
		case *ast.IncDecStmt:
			visit(n.X, passed)
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				visit(to, passed)
			}
		case *ast.Ident:
			if v, ok := r.info.Uses[n].(*types.Var); ok && all && !v.IsField() {
				visit(n, captured)
			}
		}
		return true
	})
}

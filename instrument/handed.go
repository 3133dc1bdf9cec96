package instrument

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
)

// A function may acquire a resource for its caller:
//
//	func (p *pool) acquire(ctx context.Context) (*conn, error) {
//		c, err := p.take(ctx)
//		if err != nil {
//			return nil, err
//		}
//		c.reset(ctx)
//		return c, nil
//	}
//
// A throw in reset would lose the connection. So a return statement ends the stretch in which a
// function has such a resource, like a release that no deferred call makes (byhand.go). Only values
// of certain types count: the type has a method that releases a value, or a function of the package
// does. A value that a literal of the function releases counts, too (closers.go). A call to which
// the function passes such a resource ends the stretch too, if nothing else does.

// returned returns the return statements by which a function hands a variable over to its caller:
// as a result, or as a part of a result. The value may pass through other variables.
func (r *rewriter) returned(c *code, stores []store) map[*types.Var][]ast.Node {
	all := map[*types.Var][]ast.Node{}
	hand := func(v *types.Var, by []ast.Node) (more bool) {
		for _, n := range by {
			if !slices.Contains(all[v], n) {
				all[v], more = append(all[v], n), true
			}
		}
		return more
	}
	c.walk(func(n ast.Node, _ []ast.Node) {
		if ret, ok := n.(*ast.ReturnStmt); ok {
			for _, v := range r.resultsOf(c, ret) {
				hand(v, []ast.Node{ret})
			}
		}
	})
	for more := len(all) > 0; more; {
		more = false
		for _, s := range stores {
			to := r.first(s.to)
			if to == nil || len(all[to]) == 0 {
				continue
			}
			for _, v := range r.variablesIn(c, s.from) {
				more = v != to && hand(v, all[to]) || more
			}
		}
	}
	return all
}

// addReturned adds the variables by which a function hands acquired values over to its caller, with
// the return statements. It returns the stores in the fields of these variables.
func (r *rewriter) addReturned(c *code, stores []store, entrusted map[*types.Var][]string, ends map[*types.Var][]ast.Node) (fields map[*types.Var][]made) {
	fields = map[*types.Var][]made{}
	released := r.releasedInLiterals(c)
	for v, by := range r.returned(c, stores) {
		releases := slices.Concat(released[v], entrusted[v])
		fields[v] = r.fieldsMade(stores, v, releases)
		if len(fields[v]) > 0 || len(releases) > 0 || r.isReleasable(v.Type()) {
			ends[v] = append(ends[v], by...)
		}
	}
	return fields
}

// addPassedOn adds the variables that a function has acquired, neither releases nor returns, and
// passes to calls, as in
//
//	rows, err := pool.Query(ctx, text)
//	if err != nil {
//		return nil, err
//	}
//	return pgx.CollectRows(rows, scan)
//
// One of the calls takes the resource over. The text does not show which, nor where the callee
// defers the release, so the stretch ends after the last of them. A send on a channel and a store
// in an element of a map or a slice count like calls, and a function literal that uses the resource
// counts like the resource.
func (r *rewriter) addPassedOn(c *code, ends map[*types.Var][]ast.Node) {
	on := map[*types.Var][]ast.Node{}
	c.walk(func(n ast.Node, stack []ast.Node) {
		for _, e := range r.partsWith(n, stack) {
			for _, v := range r.passedVars(c, e) {
				if len(ends[v]) == 0 {
					on[v] = append(on[v], n)
				}
			}
		}
	})
	maps.Copy(ends, on)
}

// partsWith returns the values that a call, a send, or a store in elements passes on.
func (r *rewriter) partsWith(n ast.Node, stack []ast.Node) (values []ast.Expr) {
	switch n := n.(type) {
	case *ast.SendStmt:
		return []ast.Expr{n.Value}
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if _, ok := ast.Unparen(to).(*ast.IndexExpr); ok && len(n.Rhs) == len(n.Lhs) {
				values = append(values, n.Rhs[i])
			}
		}
		return values
	case *ast.CallExpr:
		if inDeferred(stack) && !isStarted(n, stack) || r.tells(n) {
			return nil
		}
		if lit, ok := ast.Unparen(n.Fun).(*ast.FuncLit); ok {
			return append([]ast.Expr{lit}, n.Args...)
		}
		if target, _, _ := r.callee(n); target != builtin && target != conversion {
			return n.Args
		}
	}
	return nil
}

// isStarted reports whether a go statement starts the call.
func isStarted(call *ast.CallExpr, stack []ast.Node) bool {
	g, ok := stack[len(stack)-1].(*ast.GoStmt)
	return ok && g.Call == call
}

// passedVars returns the function's variables with resources that a value contains: a variable, or
// the variables that a function literal uses.
func (r *rewriter) passedVars(c *code, value ast.Expr) (vars []*types.Var) {
	see := func(e ast.Expr) {
		if v := r.passedIn(c, e); v != nil && !slices.Contains(vars, v) {
			vars = append(vars, v)
		}
	}
	lit, ok := ast.Unparen(value).(*ast.FuncLit)
	if !ok {
		see(value)
		return vars
	}
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			see(id)
		}
		return true
	})
	return slices.DeleteFunc(vars, func(v *types.Var) bool { // the literal's own
		return lit.Pos() <= v.Pos() && v.Pos() < lit.End()
	})
}

// passedIn returns the function's variable whose value, or a part of it, an argument is, if it is a
// resource. It returns nil for a parameter.
func (r *rewriter) passedIn(c *code, arg ast.Expr) *types.Var {
	switch ast.Unparen(arg).(type) {
	case *ast.Ident, *ast.SelectorExpr:
		v := r.first(arg)
		if v != nil && v.Kind() == types.LocalVar && c.declares(v) && !r.isNoResource(arg) && r.isReleasable(r.info.TypeOf(arg)) {
			return v
		}
	}
	return nil
}

// resultsOf returns the function's variables that a return statement hands over.
func (r *rewriter) resultsOf(c *code, ret *ast.ReturnStmt) (all []*types.Var) {
	if len(ret.Results) > 0 {
		for _, e := range ret.Results {
			all = append(all, r.variablesIn(c, e)...)
			// newTx(c)
			if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && r.isReleasable(r.info.TypeOf(call)) {
				for _, arg := range call.Args {
					all = append(all, r.variablesIn(c, arg)...)
				}
			}
		}
		return all
	}
	if c.typ.Results == nil {
		return nil
	}
	for _, f := range c.typ.Results.List {
		for _, name := range f.Names {
			if v, ok := r.info.Defs[name].(*types.Var); ok && !r.isNoResource(name) && !isBasic(v.Type()) {
				all = append(all, v)
			}
		}
	}
	return all
}

// made is a variable, or a field of it, with the statements that store an acquired value there.
type made struct {
	path   string
	stores []ast.Node
}

// fieldsMade returns the fields of a variable in which the function stores acquired values:
// s.conn, err = dial(). If a literal releases the field, a value of any type counts. Each field is
// a resource of its own: a store in one of them leaves the values of the rest.
func (r *rewriter) fieldsMade(stores []store, v *types.Var, released []string) (all []made) {
	for _, s := range stores {
		_, field := ast.Unparen(s.to).(*ast.SelectorExpr)
		if !field || r.first(s.to) != v || !r.takes(s.from) {
			continue
		}
		path := types.ExprString(s.to)
		if !coversField(released, v, path) && !r.isReleasable(r.info.TypeOf(s.to)) {
			continue
		}
		i := slices.IndexFunc(all, func(m made) bool { return m.path == path })
		if i < 0 {
			i, all = len(all), append(all, made{path: path})
		}
		all[i].stores = append(all[i].stores, s.node)
	}
	return all
}

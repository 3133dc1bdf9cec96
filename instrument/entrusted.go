package instrument

import (
	"go/ast"
	"go/types"
	"slices"
)

// A function may return a resource, and with it a function that releases it, to a caller that
// defers the second:
//
//	session, finish, err := open(ctx)
//	if err != nil {
//		return err
//	}
//	defer finish()
//
// In the caller, nothing is thrown between the two. open has the same resource from its acquisition
// to its return, so nothing is thrown there either, for any length of time: in which of the two
// functions the code stands makes no difference to the resource. Other resources that a function
// returns wait for a while only (handed.go), because the text does not show what becomes of them.

// result is a result of a function.
type result struct {
	of *code
	at int
}

// findEntrusted finds the results of the package's functions that callers in the package call by a
// defer statement.
func (r *rewriter) findEntrusted() {
	for _, c := range r.codes {
		if len(c.defers) == 0 {
			continue
		}
		deferred := map[types.Object]bool{}
		for _, l := range r.laterCalls(c) {
			r.usesLater(l, func(e ast.Expr, how usage) {
				if how != operated || !isFinisher(r.info.TypeOf(e)) {
					return
				}
				switch e := ast.Unparen(e).(type) {
				case *ast.Ident:
					deferred[r.info.Uses[e]] = true
				case *ast.CallExpr: // defer open()()
					r.entrust(e, 0)
				}
			})
		}
		if len(deferred) > 0 {
			r.entrustFrom(c, func(v types.Object) bool { return deferred[v] })
		}
	}
}

// isFinisher reports whether values of a type are functions that may release something, or contain
// such functions as elements. Without a function that cancels a context, the context ends a little
// later.
func isFinisher(t types.Type) bool {
	if t == nil || isOfContext(t) {
		return false
	}
	switch all := t.Underlying().(type) {
	case *types.Slice:
		t = all.Elem()
	case *types.Map:
		t = all.Elem()
	}
	_, ok := t.Underlying().(*types.Signature)
	return ok && !isOfContext(t)
}

// entrustFrom adds the results from which the function assigns variables.
func (r *rewriter) entrustFrom(c *code, is func(types.Object) bool) {
	for _, s := range r.storesOf(c) {
		id, ok := ast.Unparen(s.to).(*ast.Ident)
		if !ok || !is(r.info.ObjectOf(id)) {
			continue
		}
		if assign, ok := s.node.(*ast.AssignStmt); ok {
			r.entrust(s.from, slices.IndexFunc(assign.Lhs, func(e ast.Expr) bool { return e == s.to }))
		} else {
			r.entrust(s.from, slices.IndexFunc(s.node.(*ast.ValueSpec).Names, func(name *ast.Ident) bool { return name == s.to }))
		}
	}
}

// entrust adds a result of a call, and the results that the callee returns as this result.
func (r *rewriter) entrust(value ast.Expr, at int) {
	call, ok := ast.Unparen(value).(*ast.CallExpr)
	if !ok {
		return
	}
	target, to, _ := r.callee(call)
	if results, ok := r.info.TypeOf(call).(*types.Tuple); !ok {
		at = 0
	} else if at >= results.Len() {
		return
	}
	if target != own || to == nil || slices.Contains(r.entrusted, result{to, at}) {
		return
	}
	r.entrusted = append(r.entrusted, result{to, at})
	for _, e := range r.returnedAt(to, at) {
		r.entrust(e, at)
		if v := r.object(ast.Unparen(e)); v != nil {
			r.entrustFrom(to, func(o types.Object) bool { return o == v })
		}
	}
}

// returnedAt returns what a function's return statements return as a result: one expression, or the
// call of which all results are returned.
func (r *rewriter) returnedAt(c *code, at int) (all []ast.Expr) {
	c.walk(func(n ast.Node, _ []ast.Node) {
		ret, ok := n.(*ast.ReturnStmt)
		switch {
		case !ok:
		case len(ret.Results) == 1:
			all = append(all, ret.Results[0])
		case at < len(ret.Results):
			all = append(all, ret.Results[at])
		}
	})
	if c.typ.Results == nil {
		return all
	}
	for _, f := range c.typ.Results.List {
		for _, name := range f.Names {
			if at == 0 {
				all = append(all, name)
			}
			at--
		}
	}
	return all
}

// entrustedBy returns the variables of a function that such a result uses when it is called, each
// with the expressions: the variable, or parts of it. Like the call of a defer statement, the
// result may release all that it uses, and what the function stores there.
func (r *rewriter) entrustedBy(c *code, stores []store) map[*types.Var][]string {
	all := map[*types.Var][]string{}
	for _, res := range r.entrusted {
		if res.of != c {
			continue
		}
		for _, e := range r.returnedAt(c, res.at) {
			if r.releasesLittle(e) {
				continue
			}
			r.usedBy(c, e, func(v *types.Var, path string) { all[v] = append(all[v], path) })
		}
	}
	r.addStored(c, stores, all)
	return all
}

// usedBy visits the variables of a function that a function value uses when it is called, with the
// expressions: the variable, or parts of it.
func (r *rewriter) usedBy(c *code, value ast.Expr, visit func(v *types.Var, path string)) {
	r.usesLater(laterCall{call: &ast.CallExpr{Fun: value}}, func(e ast.Expr, how usage) {
		if v := r.first(e); v != nil && how >= passed && c.declares(v) && !r.isNoResource(e) {
			visit(v, types.ExprString(holder(e)))
		}
	})
}

// entrusted returns the stretches in which the function has what a result releases.
func (c *code) entrusted() (all []*fannedStretch) {
	for _, s := range c.byHand {
		if s.by.entrusted {
			all = append(all, s)
		}
	}
	return all
}

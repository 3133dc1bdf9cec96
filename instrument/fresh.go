package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A method may hold a lock of its receiver while it runs, as an interpreter does. When a throw
// unwinds the caller too, and the caller has made the receiver itself and has given it to nobody,
// then nobody can ever take the lock again, and what it guards is lost with it. So the lines with
// such calls are told to package safepoint, and what the text does not show counts as shared.

// inReceiver reports whether the lock is a part of the method's receiver: no pointer leads to it.
func (r *rewriter) inReceiver(c *code, lock ast.Expr) bool {
	sel, ok := ast.Unparen(lock).(*ast.SelectorExpr)
	if !ok || c.decl == nil || c.decl.Recv == nil {
		return false
	}
	s := r.info.Selections[sel]
	if s == nil || s.Kind() != types.FieldVal || len(s.Index()) != 1 {
		return false
	}
	switch s.Type().Underlying().(type) {
	case *types.Pointer, *types.Interface:
		return false
	}
	if id, ok := ast.Unparen(sel.X).(*ast.Ident); ok {
		return r.info.Uses[id] != nil && r.info.Uses[id] == r.receiver(c)
	}
	return r.inReceiver(c, sel.X)
}

// receiver returns the variable of the method's receiver, or nil.
func (r *rewriter) receiver(c *code) types.Object {
	if c.decl == nil || c.decl.Recv == nil || len(c.decl.Recv.List) != 1 || len(c.decl.Recv.List[0].Names) != 1 {
		return nil
	}
	return r.info.Defs[c.decl.Recv.List[0].Names[0]]
}

// freshCalls finds the lines of the functions' calls of methods on what only they have. A line with
// another call is of no use.
func (r *rewriter) freshCalls() {
	calls := map[place]int{}
	fresh := map[place]bool{}
	for _, c := range r.codes {
		c.walk(func(n ast.Node, _ []ast.Node) {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return
			}
			way, to, _ := r.callee(call)
			if way == builtin || way == conversion {
				return
			}
			at := r.placeOf(call.Lparen)
			calls[at]++
			if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && way == own && to != nil && to.holdsItsOwn() {
				if id, ok := ast.Unparen(sel.X).(*ast.Ident); ok {
					fresh[at] = r.isFresh(c, r.info.Uses[id])
				}
			}
		})
	}
	for at := range fresh {
		if fresh[at] && calls[at] == 1 {
			r.fresh[at] = true
		}
	}
}

// holdsItsOwn reports whether the method holds a lock of its receiver somewhere.
func (c *code) holdsItsOwn() bool {
	return slices.ContainsFunc(c.held, func(h hold) bool { return h.released == inReceiver })
}

// isFresh reports whether the object is a variable of the function that only ever holds what the
// function has made, and that it gives to nobody but those who call it.
func (r *rewriter) isFresh(c *code, v types.Object) bool {
	if _, ok := v.(*types.Var); !ok || c.decl == nil || v.Pos() < c.typ.Pos() || v.Pos() >= c.body.End() || v == r.receiver(c) {
		return false
	}
	for _, p := range c.typ.Params.List {
		for _, name := range p.Names {
			if r.info.Defs[name] == v {
				return false
			}
		}
	}
	made := true
	c.walk(func(n ast.Node, _ []ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if id, ok := ast.Unparen(to).(*ast.Ident); ok && (r.info.Defs[id] == v || r.info.Uses[id] == v) {
					made = made && r.makesIn(n.Rhs, i)
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if r.info.Defs[id] == v && len(n.Values) > 0 {
					made = made && r.makesIn(n.Values, i)
				}
			}
		case *ast.RangeStmt:
			for _, to := range []ast.Expr{n.Key, n.Value} {
				if id, ok := to.(*ast.Ident); ok && (r.info.Defs[id] == v || r.info.Uses[id] == v) {
					made = false
				}
			}
		}
	})
	return made && r.keepsToItself(c, v, true)
}

// makesIn reports whether the i-th of some variables gets what is new, or nil.
func (r *rewriter) makesIn(values []ast.Expr, i int) bool {
	if len(values) == 1 {
		return r.makes(values[0], i)
	}
	return r.makes(values[i], 0)
}

// makes reports whether the value, or the i-th of several, is new, or nil.
func (r *rewriter) makes(value ast.Expr, i int) bool {
	switch e := ast.Unparen(value).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		_, lit := ast.Unparen(e.X).(*ast.CompositeLit)
		return e.Op == token.AND && lit
	case *ast.Ident:
		return r.info.Types[e].IsNil()
	case *ast.CallExpr:
		way, c, _ := r.callee(e)
		if id, ok := ast.Unparen(e.Fun).(*ast.Ident); ok && way == builtin {
			return id.Name == "new"
		}
		return way == own && c != nil && c.decl != nil && r.returnsNew(c, i)
	}
	return false
}

// returnsNew reports whether the i-th result of a function is always new, or nil.
func (r *rewriter) returnsNew(c *code, i int) bool {
	if known, ok := r.makers[maker{c, i}]; ok {
		return known
	}
	r.makers[maker{c, i}] = false // if it comes back to itself
	always, returns := true, false
	c.walk(func(n ast.Node, _ []ast.Node) {
		ret, ok := n.(*ast.ReturnStmt)
		if !ok {
			return
		}
		returns = true
		if i >= len(ret.Results) {
			always = false // by name, or what a call returns
			return
		}
		if id, ok := ast.Unparen(ret.Results[i]).(*ast.Ident); ok && !r.info.Types[id].IsNil() {
			always = always && r.isFresh(c, r.info.Uses[id])
			return
		}
		always = always && r.makes(ret.Results[i], i)
	})
	r.makers[maker{c, i}] = always && returns
	return always && returns
}

// maker is a result of a function.
type maker struct {
	of     *code
	result int
}

// keepsToItself reports whether the function uses the variable, which is new or its receiver, only
// for its fields, for methods of the package that keep it to themselves, and, if it may, as a
// result.
func (r *rewriter) keepsToItself(c *code, v types.Object, mayReturn bool) bool {
	ok := true
	ast.PreorderStack(c.body, nil, func(n ast.Node, stack []ast.Node) bool {
		id, isIdent := n.(*ast.Ident)
		if !isIdent || r.info.Uses[id] != v {
			return ok
		}
		for i, around := range stack {
			if lit, is := around.(*ast.FuncLit); is && useOf(lit, stack[:i]) != deferred {
				ok = false
			}
		}
		ok = ok && r.isPrivateUse(id, stack, mayReturn)
		return ok
	})
	return ok
}

// isPrivateUse reports whether a use of a variable does not give it away.
func (r *rewriter) isPrivateUse(id *ast.Ident, stack []ast.Node, mayReturn bool) bool {
	switch around := stack[len(stack)-1].(type) {
	case *ast.SelectorExpr:
		s := r.info.Selections[around]
		if s == nil || around.X != id {
			return false
		}
		if s.Kind() == types.FieldVal {
			u, isUnary := stack[len(stack)-2].(*ast.UnaryExpr)
			return !isUnary || u.Op != token.AND
		}
		call, isCall := stack[len(stack)-2].(*ast.CallExpr)
		if !isCall || call.Fun != around {
			return false
		}
		way, c, _ := r.callee(call)
		return way == own && c != nil && r.keepsReceiver(c)
	case *ast.AssignStmt:
		for _, to := range around.Lhs {
			if to == id {
				return true
			}
		}
	case *ast.BinaryExpr:
		return around.Op == token.EQL || around.Op == token.NEQ
	case *ast.ReturnStmt:
		return mayReturn
	}
	return false
}

// keepsReceiver reports whether a method keeps its receiver to itself.
func (r *rewriter) keepsReceiver(c *code) bool {
	if known, ok := r.private[c]; ok {
		return known
	}
	r.private[c] = true // if it comes back to itself, the others say
	v := r.receiver(c)
	r.private[c] = c.decl != nil && (v == nil || r.keepsToItself(c, v, false))
	return r.private[c]
}

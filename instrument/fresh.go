package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A method may hold a lock of its receiver while it runs, as an interpreter does. If a throw also
// unwinds the caller, and the caller created the receiver and has not shared it, no code can take
// the lock again, and the guarded data is lost with it. So the package registers the lines with
// these calls with package safepoint. A value counts as shared unless the text shows the opposite.

// inReceiver reports whether the lock is part of the method's receiver, without a pointer in
// between.
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

// freshCalls finds the lines on which the functions call a method on an unshared value of their
// own. It omits lines with another call.
func (r *rewriter) freshCalls() {
	calls := map[place]int{}
	fresh := map[place]bool{}
	for _, c := range r.codes {
		c.walk(func(n ast.Node, _ []ast.Node) {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return
			}
			target, to, _ := r.callee(call)
			if target == builtin || target == conversion {
				return
			}
			at := r.placeOf(call.Lparen)
			calls[at]++
			if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && target == own && to != nil && to.holdsItsOwn() {
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

// holdsItsOwn reports whether the method holds a lock of its receiver anywhere.
func (c *code) holdsItsOwn() bool {
	return slices.ContainsFunc(c.held, func(h hold) bool { return h.released == inReceiver })
}

// isFresh reports whether the object is a variable of the function that always contains a value
// created by the function, and that the function shares only with its callers.
func (r *rewriter) isFresh(c *code, v types.Object) bool {
	if _, ok := v.(*types.Var); !ok || v.Pos() < c.typ.Pos() || v.Pos() >= c.body.End() || v == r.receiver(c) {
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

// makesIn reports whether the i-th of several variables gets a new value, or nil.
func (r *rewriter) makesIn(values []ast.Expr, i int) bool {
	if len(values) == 1 {
		return r.makes(values[0], i)
	}
	return r.makes(values[i], 0)
}

// makes reports whether the value, or the i-th of several values, is new, or nil.
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
		target, c, _ := r.callee(e)
		if id, ok := ast.Unparen(e.Fun).(*ast.Ident); ok && target == builtin {
			return id.Name == "new"
		}
		return target == own && c != nil && c.decl != nil && r.returnsNew(c, i)
	}
	return false
}

// returnsNew reports whether the i-th result of a function is always new, or nil.
func (r *rewriter) returnsNew(c *code, i int) bool {
	if known, ok := r.makers[maker{c, i}]; ok {
		return known
	}
	r.makers[maker{c, i}] = false // for recursion
	always, returns := true, false
	c.walk(func(n ast.Node, _ []ast.Node) {
		ret, ok := n.(*ast.ReturnStmt)
		if !ok {
			return
		}
		returns = true
		if i >= len(ret.Results) {
			always = false // a named result, or the results of a call
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

// maker identifies a result of a function.
type maker struct {
	of     *code
	result int
}

// keepsToItself reports whether the function does not share the variable, which is new or its
// receiver: it uses only its fields, methods of the package that do not share it either, and, if
// allowed, returns it.
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

// isPrivateUse reports whether a use of a variable does not share it.
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
		target, c, _ := r.callee(call)
		return target == own && c != nil && r.keepsReceiver(c)
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

// keepsReceiver reports whether a method does not share its receiver.
func (r *rewriter) keepsReceiver(c *code) bool {
	if known, ok := r.private[c]; ok {
		return known
	}
	r.private[c] = true // for recursion: the other uses decide
	v := r.receiver(c)
	r.private[c] = c.decl != nil && (v == nil || r.keepsToItself(c, v, false))
	return r.private[c]
}

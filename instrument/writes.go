package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// value is the memory that some variables of a function refer to.
type value struct {
	of    map[types.Object]bool
	whole types.Object // a variable in the value itself, or nil
}

// valueOf returns the value that a variable of the function refers to, with the other variables
// that refer into it.
func (r *rewriter) valueOf(c *code, v types.Object, whole bool) value {
	out := value{of: map[types.Object]bool{v: true}}
	if whole {
		out.whole = v
	}
	take := func(to ast.Expr, from ast.Expr) (more bool) {
		id, ok := to.(*ast.Ident)
		root, _ := r.root(from)
		if !ok || !out.of[root] {
			return false
		}
		alias := r.info.Defs[id]
		if alias == nil || out.of[alias] || !isReference(alias.Type()) {
			return false
		}
		out.of[alias] = true
		return true
	}
	for more := true; more; {
		more = false
		c.walk(func(n ast.Node, _ []ast.Node) {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					more = len(n.Lhs) == len(n.Rhs) && take(to, n.Rhs[i]) || more
				}
			case *ast.RangeStmt:
				more = n.Value != nil && take(n.Value, n.X) || more
			}
		})
	}
	return out
}

// has reports whether a write to an expression changes the value.
func (v value) has(r *rewriter, e ast.Expr) bool {
	root, beyond := r.root(e)
	return root != nil && (v.of[root] && beyond || root == v.whole)
}

// leadsTo reports whether a callee that gets the expression as an argument can write the value.
func (v value) leadsTo(r *rewriter, e ast.Expr) bool {
	root, _ := r.root(e)
	if root == nil || !v.of[root] {
		return false
	}
	address, ok := ast.Unparen(e).(*ast.UnaryExpr)
	return ok && address.Op == token.AND || r.leads(e) || r.isReceiver(e)
}

// hasChannel reports whether the expression is a channel of the value.
func (v value) hasChannel(r *rewriter, e ast.Expr) bool {
	root, _ := r.root(e)
	t := r.info.TypeOf(e)
	return root != nil && v.of[root] && t != nil && isChannel(t)
}

// isRepeated reports whether p is in a loop that does not declare the variable. Code that sends
// there serves a channel, and does not complete it.
func (c *code) isRepeated(p token.Pos, v types.Object) bool {
	return slices.ContainsFunc(c.loops, func(l *loop) bool {
		from, to := l.stmt.Pos(), l.stmt.End()
		return from <= p && p < to && (v.Pos() < from || v.Pos() >= to)
	})
}

// isReceiver reports whether a method call may take the address of the expression.
func (r *rewriter) isReceiver(e ast.Expr) bool {
	tv, ok := r.info.Types[e]
	return ok && tv.Addressable()
}

// writes reports whether the node writes the value, directly or through the package's functions
// that it calls. A write under a lock does not count, because it is meant for concurrent readers.
// Neither does a write in a deferred call, because it also happens during a throw.
func (r *rewriter) writes(c *code, n ast.Node, v value) (found bool) {
	ast.PreorderStack(n, nil, func(n ast.Node, stack []ast.Node) bool {
		if found || inDeferred(append(slices.Clone(stack), n)) {
			return false
		}
		if c.heldAt(n.Pos()) != nil {
			return true
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = n.Tok != token.DEFINE && slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return v.has(r, e) })
		case *ast.IncDecStmt:
			found = v.has(r, n.X)
		case *ast.SendStmt:
			root, _ := r.root(n.Chan)
			found = v.hasChannel(r, n.Chan) && !c.isRepeated(n.Pos(), root)
		case *ast.CallExpr:
			found = r.callWrites(n, v)
		}
		return !found
	})
	return found
}

// callWrites reports whether a call writes the value. Calls of other packages count as not writing,
// except for calls by which goroutines signal that the value is complete.
func (r *rewriter) callWrites(call *ast.CallExpr, v value) bool {
	target, to, f := r.callee(call)
	sel, isMethod := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	switch {
	case target == builtin:
		id, ok := ast.Unparen(call.Fun).(*ast.Ident)
		if !ok || len(call.Args) == 0 || !changes[id.Name] {
			return false
		}
		return v.has(r, call.Args[0]) || v.leadsTo(r, call.Args[0]) || v.hasChannel(r, call.Args[0])
	case f != nil && f.FullName() == "(*sync.WaitGroup).Done":
		root, _ := r.root(sel.X)
		return root != nil && v.of[root]
	case target != own || to == nil || to.decl == nil || to.serves():
		return false
	}
	if recv := to.decl.Recv; recv != nil && isMethod && v.leadsTo(r, sel.X) && r.writesTo(to, nameIn(recv.List[0], 0)) {
		return true
	}
	i := 0
	for _, field := range to.typ.Params.List {
		for n := range max(len(field.Names), 1) {
			if i < len(call.Args) && v.leadsTo(r, call.Args[i]) && r.writesTo(to, nameIn(field, n)) {
				return true
			}
			i++
		}
	}
	return false
}

// changes are the builtin functions that write their first argument.
var changes = map[string]bool{"close": true, "copy": true, "clear": true, "delete": true}

func nameIn(field *ast.Field, i int) *ast.Ident {
	if i < len(field.Names) {
		return field.Names[i]
	}
	return nil
}

// writesTo reports whether a function writes through its parameter.
func (r *rewriter) writesTo(c *code, name *ast.Ident) bool {
	param := types.Object(nil)
	if name != nil {
		param = r.info.Defs[name]
	}
	if param == nil || !isReference(param.Type()) {
		return false
	}
	if known, ok := r.written[param]; ok {
		return known
	}
	r.written[param] = false // for recursion
	r.written[param] = r.writes(c, c.body, r.valueOf(c, param, false))
	return r.written[param]
}

// serves reports whether the function has a loop without a condition: it runs as long as its client
// does, and does not complete the value.
func (c *code) serves() (found bool) {
	c.walk(func(n ast.Node, _ []ast.Node) {
		loop, ok := n.(*ast.ForStmt)
		found = found || ok && loop.Cond == nil
	})
	return found
}

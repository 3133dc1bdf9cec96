package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
)

// counter is the variable that counts a loop's iterations. Only one statement of the loop writes it.
type counter struct {
	name  string
	obj   types.Object
	first ast.Expr // its initial value, if the loop declares it
	step  int64    // added by the statement
	bits  int      // minimum size of its type
}

// counterOf finds the counter that the loop declares, if it has one: an integer to which the post
// statement adds a constant.
func (r *rewriter) counterOf(loop *ast.ForStmt) (c counter, ok bool) {
	init, _ := loop.Init.(*ast.AssignStmt)
	if init == nil || init.Tok != token.DEFINE || len(init.Lhs) != len(init.Rhs) {
		return c, false
	}
	x, step, ok := r.stepOf(loop.Post)
	if !ok {
		return c, false
	}
	c = counter{name: x.Name, obj: r.info.Uses[x], step: step}
	for i, l := range init.Lhs {
		if d, ok := l.(*ast.Ident); ok && c.obj != nil && r.info.Defs[d] == c.obj {
			c.first = init.Rhs[i]
		}
	}
	if c.first == nil || c.step == 0 || r.touched(c.obj, loop.Body) || r.touched(c.obj, loop.Cond) {
		return c, false
	}
	c.bits = leastBits(c.obj.Type())
	return c, c.bits > 0
}

// leastBits returns the minimum size of an integer type, or 0 for another type: a type parameter may
// be of any size, and adding to a float may not change it.
func leastBits(t types.Type) int {
	b, ok := core(t).(*types.Basic)
	if !ok || b.Info()&types.IsInteger == 0 {
		return 0
	}
	switch b.Kind() {
	case types.Int8, types.Uint8:
		return 8
	case types.Int16, types.Uint16:
		return 16
	}
	return 32
}

// stepOf parses i++, i--, i += c and i -= c, and i, j = i+c, j-d, of which the first counts.
func (r *rewriter) stepOf(post ast.Stmt) (x *ast.Ident, step int64, ok bool) {
	switch post := post.(type) {
	case *ast.IncDecStmt:
		x, ok = post.X.(*ast.Ident)
		if step = 1; post.Tok == token.DEC {
			step = -1
		}
	case *ast.AssignStmt:
		if post.Tok == token.ASSIGN && len(post.Lhs) == 2 && len(post.Rhs) == 2 {
			return r.firstStepOf(post)
		}
		if post.Tok != token.ADD_ASSIGN && post.Tok != token.SUB_ASSIGN {
			return nil, 0, false
		}
		if step, ok = r.constant(post.Rhs[0]); !ok {
			return nil, 0, false
		}
		x, ok = post.Lhs[0].(*ast.Ident)
		if post.Tok == token.SUB_ASSIGN {
			step = -step
		}
	}
	return x, step, ok
}

// firstStepOf parses the first part of i, j = i+c, j-d.
func (r *rewriter) firstStepOf(post *ast.AssignStmt) (x *ast.Ident, step int64, ok bool) {
	sum, _ := ast.Unparen(post.Rhs[0]).(*ast.BinaryExpr)
	if x, ok = post.Lhs[0].(*ast.Ident); !ok || sum == nil || sum.Op != token.ADD && sum.Op != token.SUB {
		return nil, 0, false
	}
	if y, same := ast.Unparen(sum.X).(*ast.Ident); !same || r.info.Uses[y] == nil || r.info.Uses[y] != r.info.Uses[x] {
		return nil, 0, false
	}
	if second, named := post.Lhs[1].(*ast.Ident); !named || r.info.Uses[second] == r.info.Uses[x] {
		return nil, 0, false
	}
	if step, ok = r.constant(sum.Y); sum.Op == token.SUB {
		step = -step
	}
	return x, step, ok
}

func (r *rewriter) isUse(e ast.Expr, obj types.Object) bool {
	id, ok := e.(*ast.Ident)
	return ok && r.info.Uses[id] == obj
}

// touched reports whether the code may write the variable, by assignment or through an address.
func (r *rewriter) touched(obj types.Object, n ast.Node) (found bool) {
	if n == nil {
		return false
	}
	is := func(e ast.Expr) bool { return e != nil && r.isUse(ast.Unparen(e), obj) }
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				found = found || is(l)
			}
		case *ast.IncDecStmt:
			found = found || is(n.X)
		case *ast.RangeStmt:
			found = found || is(n.Key) || is(n.Value)
		}
		return !found
	})
	return found || r.addressed(obj, n)
}

// addressed reports whether the code may take the variable's address, by & or by a method call.
func (r *rewriter) addressed(obj types.Object, n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			found = found || r.isUse(ast.Unparen(s.X), obj)
		}
		return !found
	})
	return found || r.referenced(obj, n)
}

// referenced reports whether the code takes the variable's address by &. For a pointer, which has
// no methods with its address as receiver, there is no other way.
func (r *rewriter) referenced(obj types.Object, n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if u, ok := n.(*ast.UnaryExpr); ok {
			found = found || u.Op == token.AND && r.isUse(ast.Unparen(u.X), obj)
		}
		return !found
	})
	return found
}

package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
)

// counter is the variable that counts a loop's iterations: nothing else in the function writes it while the loop runs.
type counter struct {
	name  string
	obj   types.Object // nil: the loop has none, and name is to be declared in its range clause
	step  int64        // what it goes on by at each iteration, at most so much for a string's
	bits  int          // of its type
	first ast.Expr     // its first value, nil if that is not written in the loop
}

func (c counter) is(r *rewriter, e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && c.obj != nil && r.info.Uses[id] == c.obj
}

// counterOf finds the loop's counter, if it has one.
func (r *rewriter) counterOf(loop ast.Stmt) (counter, bool) {
	switch loop := loop.(type) {
	case *ast.ForStmt:
		return r.counterOfFor(loop)
	case *ast.RangeStmt:
		return r.counterOfRange(loop)
	}
	return counter{}, false
}

// counterOfFor accepts a variable that the loop declares, and moves on by a constant.
func (r *rewriter) counterOfFor(loop *ast.ForStmt) (c counter, ok bool) {
	init, _ := loop.Init.(*ast.AssignStmt)
	if init == nil || init.Tok != token.DEFINE || len(init.Lhs) != len(init.Rhs) {
		return c, false
	}
	var x ast.Expr
	switch post := loop.Post.(type) {
	case *ast.IncDecStmt:
		if x, c.step = post.X, 1; post.Tok == token.DEC {
			c.step = -1
		}
	case *ast.AssignStmt:
		if post.Tok != token.ADD_ASSIGN && post.Tok != token.SUB_ASSIGN {
			return c, false
		}
		step, known := r.constant(post.Rhs[0])
		if x, c.step = post.Lhs[0], step; post.Tok == token.SUB_ASSIGN {
			c.step = -step
		}
		if !known {
			return c, false
		}
	default:
		return c, false
	}
	id, isName := ast.Unparen(x).(*ast.Ident)
	if !isName {
		return c, false
	}
	c.name, c.obj = id.Name, r.info.Uses[id]
	for i, l := range init.Lhs {
		if d, ok := l.(*ast.Ident); ok && c.obj != nil && r.info.Defs[d] == c.obj {
			c.first = init.Rhs[i]
		}
	}
	if c.first == nil || c.step == 0 || r.touched(c.obj, loop.Body) || r.touched(c.obj, loop.Cond) {
		return c, false
	}
	return c, c.typed(c.obj.Type())
}

// counterOfRange accepts the key of a range over a slice, array, string or integer.
func (r *rewriter) counterOfRange(loop *ast.RangeStmt) (c counter, ok bool) {
	t := r.info.TypeOf(loop.X)
	if t == nil {
		return c, false
	}
	key := types.Type(types.Typ[types.Int])
	t = t.Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem().Underlying()
	}
	switch u := t.(type) {
	case *types.Slice, *types.Array:
		c.step = 1
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
			c.step = 4 // bytes of the longest rune
		case u.Info()&types.IsInteger != 0:
			if c.step = 1; u.Info()&types.IsUntyped == 0 {
				key = u
			}
		default:
			return c, false
		}
	default:
		return c, false
	}
	if loop.Key == nil {
		c.name = r.name("i")
		return c, c.typed(key)
	}
	id, isName := loop.Key.(*ast.Ident)
	if !isName || loop.Tok != token.DEFINE {
		return c, false
	}
	if id.Name == "_" {
		c.name = r.name("i")
		return c, c.typed(key)
	}
	c.name, c.obj = id.Name, r.info.Defs[id]
	if c.obj == nil || r.touched(c.obj, loop.Body) {
		return c, false
	}
	return c, c.typed(c.obj.Type())
}

// typed notes the size of the counter's type; a type parameter may be any.
func (c *counter) typed(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsInteger == 0 {
		return false
	}
	if _, generic := types.Unalias(t).(*types.TypeParam); generic {
		return false
	}
	switch b.Kind() {
	case types.Int8, types.Uint8:
		c.bits = 8
	case types.Int16, types.Uint16:
		c.bits = 16
	default:
		c.bits = 32
	}
	return true
}

// touched reports whether the code may write the variable: an assignment, its address taken, a method called on it.
func (r *rewriter) touched(obj types.Object, n ast.Node) (found bool) {
	is := func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return ok && r.info.Uses[id] == obj
	}
	if n == nil {
		return false
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				found = found || is(ast.Unparen(l))
			}
		case *ast.IncDecStmt:
			found = found || is(ast.Unparen(n.X))
		case *ast.RangeStmt:
			if n.Key != nil && is(ast.Unparen(n.Key)) || n.Value != nil && is(ast.Unparen(n.Value)) {
				found = true
			}
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && is(ast.Unparen(n.X))
		case *ast.SelectorExpr:
			found = found || is(ast.Unparen(n.X))
		}
		return !found
	})
	return found
}

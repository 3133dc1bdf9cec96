package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// publication is a store of a value where other goroutines can find it, although the function will
// write to the value again: a throw in between would leave an incomplete value there permanently.
type publication struct {
	node ast.Node     // the call, or the assignment
	into ast.Expr     // the map, field or variable
	what types.Object // the variable that contains the value
	// the variable itself is shared: by its address, or by a literal that captures it
	whole bool
}

// stores maps the methods that publish to the index of the published argument.
var stores = map[string]int{
	"(*sync.Map).Store": 1, "(*sync.Map).LoadOrStore": 1, "(*sync.Map).Swap": 1, "(*sync.Map).CompareAndSwap": 2,
	"(*sync/atomic.Pointer[T]).Store": 0, "(*sync/atomic.Pointer[T]).Swap": 0, "(*sync/atomic.Pointer[T]).CompareAndSwap": 1,
	"(*sync/atomic.Value).Store": 0, "(*sync/atomic.Value).Swap": 0, "(*sync/atomic.Value).CompareAndSwap": 1,
}

var storing = func() map[string]bool {
	names := map[string]bool{}
	for method := range stores {
		names[method[strings.LastIndexByte(method, '.')+1:]] = true
	}
	return names
}()

// publications returns the stores of the function in maps and pointers that are safe for concurrent
// use, and, while it holds a lock, in maps and fields.
func (r *rewriter) publications(c *code) (all []publication) {
	add := func(n ast.Node, into, value ast.Expr) {
		for what, whole := range r.sharedBy(c, value) {
			if at, _ := r.root(into); at != what {
				all = append(all, publication{n, into, what, whole})
			}
		}
	}
	c.walk(func(n ast.Node, stack []ast.Node) {
		if inDeferred(stack) {
			return
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
			if !ok || !storing[sel.Sel.Name] {
				return
			}
			f, ok := r.object(sel).(*types.Func)
			if !ok {
				return
			}
			if i, ok := stores[f.Origin().FullName()]; ok && i < len(n.Args) {
				add(n, sel.X, n.Args[i])
			}
		case *ast.AssignStmt:
			if len(n.Lhs) != len(n.Rhs) || c.heldAt(n.Pos()) == nil {
				return
			}
			for i, to := range n.Lhs {
				if index, ok := ast.Unparen(to).(*ast.IndexExpr); ok && r.isMap(index.X) {
					add(n, index.X, n.Rhs[i])
				} else if _, ok := ast.Unparen(to).(*ast.SelectorExpr); ok {
					add(n, to, n.Rhs[i])
				}
			}
		}
	})
	return all
}

func (r *rewriter) isMap(e ast.Expr) bool {
	t := r.info.TypeOf(e)
	if t == nil {
		return false
	}
	_, ok := core(t).(*types.Map)
	return ok
}

// inDeferred reports whether the innermost node runs when the function returns, or on another
// goroutine.
func inDeferred(stack []ast.Node) bool {
	return slices.ContainsFunc(stack, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.DeferStmt, *ast.GoStmt:
			return true
		}
		return false
	})
}

// sharedBy returns the function's variables through which a published value can be written, and
// whether the variable itself is part of the value.
func (r *rewriter) sharedBy(c *code, value ast.Expr) map[types.Object]bool {
	vars := map[types.Object]bool{}
	switch value := ast.Unparen(value).(type) {
	case *ast.Ident:
		if v, ok := r.info.Uses[value].(*types.Var); ok && (isReference(v.Type()) || isChannel(v.Type())) && c.declares(v) {
			vars[v] = false
		}
	case *ast.UnaryExpr:
		if id, ok := ast.Unparen(value.X).(*ast.Ident); ok && value.Op == token.AND {
			if v, ok := r.info.Uses[id].(*types.Var); ok && c.declares(v) {
				vars[v] = true
			}
		}
	case *ast.CallExpr:
		if target, _, _ := r.callee(value); target == conversion && len(value.Args) == 1 {
			return r.sharedBy(c, value.Args[0])
		}
	case *ast.FuncLit:
		ast.Inspect(value.Body, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if v, ok := r.info.Uses[id].(*types.Var); ok && c.declares(v) && (v.Pos() < value.Pos() || v.Pos() > value.End()) {
					vars[v] = true
				}
			}
			return true
		})
	}
	return vars
}

// declares reports whether a variable belongs to the function: a parameter or a local variable.
func (c *code) declares(v *types.Var) bool {
	if v.IsField() {
		return false
	}
	from := c.typ.Pos()
	if c.decl != nil {
		from = c.decl.Pos() // its receiver
	}
	return from <= v.Pos() && v.Pos() < c.body.End()
}

// isReference reports whether a copy of a value refers to the same memory.
func isReference(t types.Type) bool {
	switch core(t).(type) {
	case *types.Pointer, *types.Map, *types.Slice:
		return true
	}
	return false
}

// isChannel reports whether the type is a channel. Goroutines that find a channel wait for what the
// function sends to it.
func isChannel(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := core(t).(*types.Chan)
	return ok
}

// root returns the variable at which an expression starts, and whether a write to the expression
// changes memory that the variable refers to, rather than the variable.
func (r *rewriter) root(e ast.Expr) (v types.Object, beyond bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := r.info.Uses[e].(*types.Var); ok {
			return v, false
		}
	case *ast.StarExpr:
		v, _ = r.root(e.X)
		return v, true
	case *ast.SelectorExpr:
		v, beyond = r.root(e.X)
		return v, beyond || r.leads(e.X)
	case *ast.IndexExpr:
		v, beyond = r.root(e.X)
		return v, beyond || r.leads(e.X)
	case *ast.SliceExpr:
		return r.root(e.X)
	case *ast.UnaryExpr:
		return r.root(e.X)
	}
	return nil, false
}

func (r *rewriter) leads(e ast.Expr) bool {
	t := r.info.TypeOf(e)
	return t != nil && isReference(t)
}

package instrument

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A deferred call may clean up only if the function fails:
//
//	defer func() {
//		if err != nil {
//			os.Remove(name)
//		}
//	}()
//
// A throw unwinds the function before it sets err. So while a throw unwinds a function, the error
// variables that its deferred calls read contain the throw's error, unless they already contain
// another error. The function returns no more, so no other code sees this.

// failText is added to the package's file if a deferred call learns of throws in this way.
const failText = `
//go:linkname PREFIX_throws SAFEPOINT.throws
var PREFIX_throws uint32

//go:linkname PREFIX_failed SAFEPOINT.failedLink
var PREFIX_failed func() error

//go:norace
func PREFIX_unwinds() bool { return PREFIX_throws != 0 }
`

// failuresOf makes the deferred calls of a function learn of throws: a literal at its beginning,
// and another function that gets the address of the variable by one more deferred literal, which
// runs before it.
func (r *rewriter) failuresOf(c *code) {
	if c.exempt != "" || c.careful > 0 || len(c.defers) == 0 || !r.hasPoll(c) {
		return
	}
	for _, d := range c.defers {
		if lit, ok := ast.Unparen(d.Call.Fun).(*ast.FuncLit); ok {
			for _, v := range r.errorsReadIn(c, d, lit.Body) {
				r.insert(c.file, lit.Body.Lbrace+1, r.failure(v))
			}
			continue
		}
		for _, arg := range d.Call.Args {
			if of, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && of.Op == token.AND {
				for _, v := range r.errorsReadIn(c, d, of) {
					r.insert(c.file, d.End(), "; defer func() { "+r.failure(v)+" }()")
				}
			}
		}
	}
}

func (r *rewriter) failure(v *types.Var) string {
	r.fails = true
	return fmt.Sprintf("if %s() && %s == nil { %[2]s = %s() };", r.name("unwinds"), v.Name(), r.name("failed"))
}

// errorsReadIn returns the function's error variables, declared outside of the defer statement,
// that a part of the statement reads.
func (r *rewriter) errorsReadIn(c *code, d *ast.DeferStmt, n ast.Node) (all []*types.Var) {
	ast.PreorderStack(n, nil, func(n ast.Node, stack []ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := r.info.Uses[id].(*types.Var)
		if !ok || !c.declares(v) || v.Pos() >= d.Pos() && v.Pos() < d.End() || !types.Identical(v.Type(), types.Universe.Lookup("error").Type()) || slices.Contains(all, v) {
			return true
		}
		if len(stack) > 0 {
			if a, ok := stack[len(stack)-1].(*ast.AssignStmt); ok && slices.Contains(a.Lhs, ast.Expr(id)) {
				return true
			}
		}
		all = append(all, v)
		return true
	})
	return all
}

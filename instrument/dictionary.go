package instrument

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// dictionary returns the text that makes a loop of a generic function find the dictionary of
// cmp.Less and cmp.Compare before each piece, instead of in each iteration:
//
//	for i := len(x) - 1; i > 0; i-- { if cmp.Less(x[i], x[i-1]) { return false } }
//	… POLL var z E; _ = cmp.Less(z, z);
//	  for ; i > n; i-- { if cmp.Less(x[i], x[i-1]) { return false } } …
//
// A generic function gets what depends on its type arguments in a dictionary. The inlined code of
// cmp.Less reads its own dictionary from there and tests that it is not nil. The compiler moves
// nothing out of a loop, but leaves out what has been done before it. The plain function needs no
// dictionary where it is inlined; with polls it is too long for that. The two functions only
// compare, so their results for the zero value do not matter.
//
// body is the loop's. The text stands where the variables that the loop declares are visible.
func (r *rewriter) dictionary(loop ast.Stmt, body *ast.BlockStmt) (text string) {
	ast.Inspect(loop, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || text != "" {
			return text == ""
		}
		fun, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok || len(call.Args) != 2 {
			return true
		}
		f, ok := r.info.Uses[fun.Sel].(*types.Func)
		if !ok || f.FullName() != "cmp.Less" && f.FullName() != "cmp.Compare" {
			return true
		}
		pkg, _ := fun.X.(*ast.Ident)
		t, ok := r.info.TypeOf(call.Args[0]).(*types.TypeParam)
		if pkg == nil || !ok || !r.means(pkg.Name, r.info.Uses[pkg], body.Lbrace) ||
			!r.means(t.Obj().Name(), t.Obj(), body.Lbrace) {
			return true
		}
		z := r.name("z")
		text = fmt.Sprintf(" var %s %s; _ = %s.%s(%s, %s);", z, t.Obj().Name(), pkg.Name, fun.Sel.Name, z, z)
		return false
	})
	return text
}

// means reports whether a name has a meaning at a place.
func (r *rewriter) means(name string, obj types.Object, at token.Pos) bool {
	scope := r.types.Scope().Innermost(at)
	if scope == nil || obj == nil {
		return false
	}
	_, found := scope.LookupParent(name, at)
	return found == obj
}

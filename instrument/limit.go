package instrument

import (
	"bytes"
	"go/ast"
	"go/token"
	"go/types"
)

// endOf returns the condition if it ends a loop before its counter, which has step one, could wrap
// around, or nil.
func (r *rewriter) endOf(count counter, cond ast.Expr) *ast.BinaryExpr {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	switch {
	case !ok:
	case !r.isUse(ast.Unparen(b.X), count.obj):
	case count.step == 1 && b.Op == token.LSS || count.step == -1 && b.Op == token.GTR:
		return b
	case count.step == -1 && b.Op == token.GEQ:
		if least, ok := r.constant(b.Y); ok && (least > 0 || least == 0 && !isUnsigned(count.obj.Type())) {
			return b
		}
	}
	return nil
}

func isUnsigned(t types.Type) bool {
	b, ok := core(t).(*types.Basic)
	return !ok || b.Info()&types.IsUnsigned != 0
}

// limitOf returns the expression that the loop's condition compares its counter with, or nil. The
// expression must not change during the loop.
func (r *rewriter) limitOf(c *code, stmt *ast.ForStmt, count counter) ast.Expr {
	end := r.endOf(count, stmt.Cond)
	if end == nil || count.bits < 32 || isUnsigned(count.obj.Type()) {
		return nil
	}
	from, to := r.offset(behindInit(stmt)), r.offset(end.End())
	if bytes.ContainsAny(c.file.src[from:to], "\n/") {
		return nil // a line break or a comment would be lost
	}
	limit := ast.Unparen(end.Y)
	if value, ok := r.constant(limit); ok {
		if value > 1<<30 || value < -1<<30 {
			return nil // near the end of a type, the end of a piece might be out of range
		}
		return end.Y
	}
	if r.isLength(limit) {
		limit = ast.Unparen(limit.(*ast.CallExpr).Args[0])
	}
	id, ok := limit.(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := r.info.Uses[id].(*types.Var)
	if !ok || v.Pos() < c.typ.Pos() || v.Pos() >= c.body.End() || r.touched(v, stmt) || r.shared(v, c.body) {
		return nil
	}
	return end.Y
}

// isLength reports whether the expression is the length of a slice or a string, which is far below
// the maximum of its type.
func (r *rewriter) isLength(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return false
	}
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || id.Name != "len" || !r.info.Types[id].IsBuiltin() || r.info.TypeOf(call.Args[0]) == nil {
		return false
	}
	switch t := core(r.info.TypeOf(call.Args[0])).(type) {
	case *types.Slice:
		return true
	case *types.Basic:
		return t.Info()&types.IsString != 0
	}
	return false
}

// shared reports whether other code may write the variable, through an address or in a function
// literal that captures it.
func (r *rewriter) shared(v *types.Var, body *ast.BlockStmt) (found bool) {
	ast.PreorderStack(body, nil, func(n ast.Node, stack []ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && r.info.Uses[id] == v {
			for _, around := range stack {
				_, inside := around.(*ast.FuncLit)
				found = found || inside
			}
		}
		return !found
	})
	return found || r.addressed(v, body)
}

// silent reports whether the number of evaluations of the expression has no effect: it contains no
// call and no receive.
func (r *rewriter) silent(e ast.Expr) bool {
	silent := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			target, _, _ := r.callee(n)
			silent = silent && (target == conversion || target == builtin && r.costOfCall(n) == 1)
		case *ast.UnaryExpr:
			silent = silent && n.Op != token.ARROW
		}
		return silent
	})
	return silent
}

package instrument

import "go/ast"

// leftIn notes the lines on which an iterator cleans up after the loop over it has ended early:
//
//	if !yield(x) {
//		rows.Close()
//		return
//	}
//
// These lines are treated like lines with deferred calls. Code on the line of the yield call cannot
// be distinguished from the loop's body.
func (r *rewriter) leftIn(c *code) {
	yield := yieldOf(c.typ)
	if yield == "" {
		return
	}
	c.walk(func(n ast.Node, _ []ast.Node) {
		stmt, ok := n.(*ast.IfStmt)
		if !ok || !asks(stmt.Cond, yield) || len(stmt.Body.List) == 0 {
			return
		}
		brace, first, last := r.placeOf(stmt.Body.Lbrace), r.placeOf(stmt.Body.List[0].Pos()), r.placeOf(lastOf(stmt.Body.List).End())
		if brace.file != first.file || first.file != last.file {
			return
		}
		for line := max(first.line, brace.line+1); line <= last.line; line++ {
			r.ends[place{first.file, line}] = true
		}
	})
}

// yieldOf returns the name of an iterator's yield parameter, or "" if the function is not an
// iterator.
func yieldOf(t *ast.FuncType) string {
	if t.Results != nil || len(t.Params.List) != 1 || len(t.Params.List[0].Names) != 1 {
		return ""
	}
	f, ok := t.Params.List[0].Type.(*ast.FuncType)
	if !ok || f.Results == nil || len(f.Results.List) != 1 {
		return ""
	}
	if id, ok := f.Results.List[0].Type.(*ast.Ident); !ok || id.Name != "bool" {
		return ""
	}
	return t.Params.List[0].Names[0].Name
}

// asks reports whether the condition is true if the loop has ended early.
func asks(cond ast.Expr, yield string) bool {
	not, ok := ast.Unparen(cond).(*ast.UnaryExpr)
	if !ok {
		return false
	}
	call, ok := ast.Unparen(not.X).(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	return ok && id.Name == yield
}

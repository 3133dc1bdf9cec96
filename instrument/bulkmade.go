package instrument

import (
	"bytes"
	"go/ast"
	"go/token"
	"go/types"
)

// madeCopy is a make of a slice followed by a copy to it. The compiler merges the two statements,
// and does not clear the memory that the copy overwrites. bulkMade does the same.
type madeCopy struct {
	make, copy *ast.CallExpr
	n, from    ast.Expr
}

// madeCopies returns each pair of a make and a copy among the statements of a block.
func (r *rewriter) madeCopies(c *code, block ast.Node) (all []madeCopy) {
	var list []ast.Stmt
	switch block := block.(type) {
	case *ast.BlockStmt:
		list = block.List
	case *ast.CaseClause:
		list = block.Body
	case *ast.CommClause:
		list = block.Body
	}
	for i := 1; i < len(list); i++ {
		if m, ok := r.madeCopy(c, list[i-1], list[i]); ok && c.whyNot(list[i].Pos()) == "" {
			all = append(all, m)
		}
	}
	return all
}

func (r *rewriter) madeCopy(c *code, first, second ast.Stmt) (m madeCopy, ok bool) {
	assign, isAssign := first.(*ast.AssignStmt)
	stmt, isExpr := second.(*ast.ExprStmt)
	if !isAssign || !isExpr || assign.Tok != token.DEFINE || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
		return m, false
	}
	if m.n, ok = r.made(assign.Rhs[0]); !ok {
		return m, false
	}
	m.make = ast.Unparen(assign.Rhs[0]).(*ast.CallExpr)
	m.copy, ok = stmt.X.(*ast.CallExpr)
	if !ok || len(m.copy.Args) != 2 {
		return m, false
	}
	id, isName := m.copy.Fun.(*ast.Ident)
	x, isVar := assign.Lhs[0].(*ast.Ident)
	if !isName || !isVar || id.Name != "copy" || !r.info.Types[id].IsBuiltin() || r.info.Defs[x] == nil || !r.isUse(m.copy.Args[0], r.info.Defs[x]) {
		return m, false
	}
	m.from = m.copy.Args[1]
	if r.info.TypeOf(m.from) == nil || !r.isSlice(m.make) || !r.isSlice(m.from) || r.isLittle(m.from) || !r.isInt(m.n) {
		return m, false
	}
	if !r.silent(m.n) || !r.silent(m.from) || r.mentions(m.from, r.info.Defs[x]) {
		return m, false
	}
	return m, r.isPlainText(c, m.make.Pos(), m.n.Pos()) && r.isPlainText(c, m.copy.Pos(), m.copy.End())
}

func (r *rewriter) isInt(e ast.Expr) bool {
	b, ok := r.info.TypeOf(e).(*types.Basic)
	return ok && (b.Kind() == types.Int || b.Kind() == types.UntypedInt)
}

func (r *rewriter) mentions(e ast.Expr, obj types.Object) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && r.info.Uses[id] == obj
		return !found
	})
	return found
}

// isPlainText reports whether the text can be removed: it has no line break and no comment.
func (r *rewriter) isPlainText(c *code, from, to token.Pos) bool {
	return !bytes.ContainsAny(c.file.src[r.offset(from):r.offset(to)], "\n/")
}

// madeInstead rewrites both statements. It keeps the use of the variable in the second statement,
// which may be its only use.
func (r *rewriter) madeInstead(c *code, m madeCopy) {
	text := func(e ast.Expr) string { return string(c.file.src[r.offset(e.Pos()):r.offset(e.End())]) }
	r.replace(c.file, m.make.Pos(), m.n.Pos(), r.name("bulkMade")+"["+text(m.make.Args[0])+"](")
	r.insert(c.file, m.n.End(), ", "+text(m.from)+", "+r.name("bulkMadePieces"))
	r.replace(c.file, m.copy.Pos(), m.copy.End(), "_ = "+text(m.copy.Args[0]))
}

package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// dispensable are functions that release what may be lost without harm. A reflect.Value is a
// resource only if it is a channel: interpreters and templates return these values everywhere.
var dispensable = map[string]bool{
	"(*sync.Pool).Put": true, "(*time.Timer).Stop": true, "(*time.Ticker).Stop": true, "(reflect.Value).Close": true,
}

// isDispensable reports whether the stored value is a function that certainly releases nothing, or
// only what may be lost without harm:
//
//	return ranger, func() { pool.Put(ranger) }, nil
//
// It comes from a call of a function of this package, of which each return statement shows it.
func (r *rewriter) isDispensable(s store) bool {
	if t := r.info.TypeOf(s.to); t == nil || !isReleaseType(t.Underlying()) {
		return false
	}
	call, isCall := ast.Unparen(s.from).(*ast.CallExpr)
	assign, assigns := s.node.(*ast.AssignStmt)
	if !isCall || !assigns {
		return false
	}
	target, to, _ := r.callee(call)
	if target != own || to == nil {
		return false
	}
	at := 0
	if len(assign.Rhs) == 1 {
		at = slices.Index(assign.Lhs, s.to)
	}
	dispensable := true
	to.walk(func(n ast.Node, _ []ast.Node) {
		if ret, ok := n.(*ast.ReturnStmt); ok {
			dispensable = dispensable && at < len(ret.Results) && r.releasesLittle(ret.Results[at])
		}
	})
	return dispensable
}

// releasesLittle reports whether a value is nil, or a literal which makes only dispensable calls. A
// literal that receives, sends or assigns may give a place back.
func (r *rewriter) releasesLittle(value ast.Expr) bool {
	lit, ok := ast.Unparen(value).(*ast.FuncLit)
	if !ok {
		return r.info.Types[value].IsNil()
	}
	little := true
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			f, ok := r.object(ast.Unparen(n.Fun)).(*types.Func)
			little = little && ok && dispensable[f.FullName()]
		case *ast.UnaryExpr:
			little = little && n.Op != token.ARROW
		case *ast.SendStmt, *ast.AssignStmt, *ast.IncDecStmt:
			little = false
		}
		return little
	})
	return little
}

package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
)

// The compiler's inlining budget for a function, and the cost of a call without inlining. A syntax
// node costs one unit; an inlined call costs as much as its body.
const (
	inlineBudget = 80
	inlineCall   = 57
	inlinePoll   = 27
	inlineBulk   = 60 // upper limit for the replacement of a builtin function; see bulkText
)

// mayInline reports whether the compiler may inline the function, as far as the text shows: it does
// so unless something prevents it.
func (r *rewriter) mayInline(c *code) bool { return r.leastUnits(c) <= inlineBudget }

// leastUnits returns a lower bound of the inliner's count for the function. It is above any budget
// if the function is never inlined.
func (r *rewriter) leastUnits(c *code) int {
	if c.inlining == 0 {
		c.inlining = 1 // for recursion
		c.inlining = 1 + r.countUnits(c)
	}
	return c.inlining
}

func (r *rewriter) countUnits(c *code) (units int) {
	c.walk(func(n ast.Node, _ []ast.Node) {
		switch n := n.(type) {
		case *ast.DeferStmt, *ast.GoStmt, *ast.SelectStmt:
			units += endless
		case *ast.CallExpr:
			switch target, to, _ := r.callee(n); target {
			case own:
				if to == c {
					units += endless // the compiler does not inline recursion
				} else if to != nil {
					units += min(r.leastUnits(to), inlineCall)
				}
			case away:
				if !r.isGiven(c, n.Fun) && !r.calledOnce(n) {
					units += inlineCall
				}
			case builtin:
				if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok && id.Name == "recover" {
					units += endless
				}
			}
			units++
		case *ast.AssignStmt, *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.ReturnStmt, *ast.IndexExpr, *ast.SliceExpr:
			units++
		case *ast.BinaryExpr:
			if r.info.Types[n].Value == nil {
				units++
			}
		case *ast.Ident:
			if v, ok := r.info.Uses[n].(*types.Var); ok && !v.IsField() {
				units++
			}
		}
	})
	return units
}

// calledOnce reports whether the call directly calls a literal, which may be inlined.
func (r *rewriter) calledOnce(call *ast.CallExpr) bool {
	_, ok := ast.Unparen(call.Fun).(*ast.FuncLit)
	return ok
}

// staysInline reports whether an inlined function is still inlined after the replacement of a
// number of builtin functions: its syntax is so short that the inliner's count, which is not known
// exactly, stays within the budget.
func (r *rewriter) staysInline(c *code, replaced int) bool {
	units := replaced * inlineBulk
	ast.Inspect(c.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil, *ast.BlockStmt, *ast.ExprStmt:
		case *ast.CallExpr:
			if target, _, _ := r.callee(n); target != builtin && target != conversion {
				units += inlineBudget
			}
			units++
		case *ast.BranchStmt:
			if n.Tok == token.GOTO {
				units += inlineBudget
			}
		default:
			units++
		}
		return true
	})
	return units <= inlineBudget
}

// isLarge reports whether the compiler may consider the function very large. It inlines nothing
// above 20 units into a function of 5000 of its nodes, which outnumber the nodes of the syntax.
func (c *code) isLarge() bool {
	return len(c.inOrder()) > 2500
}

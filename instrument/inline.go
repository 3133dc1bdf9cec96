package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
)

// What the compiler's inliner allows a function, and counts for a call that it does not inline. A
// node of its syntax counts one; what is inlined counts as it does itself.
const (
	inlineBudget = 80
	inlineCall   = 57
	inlineBulk   = 60 // at most, for what replaces a builtin function; see bulkText
)

// mayInline reports whether the compiler may inline the function, as far as the text tells: it does
// if nothing forbids it.
func (r *rewriter) mayInline(c *code) bool { return r.leastUnits(c) <= inlineBudget }

// leastUnits is the least that the inliner may count for the function. What is never inlined counts
// above any budget.
func (r *rewriter) leastUnits(c *code) int {
	if c.inlining == 0 {
		c.inlining = 1 // for a function that comes back to itself
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
			switch way, to, _ := r.callee(n); way {
			case own:
				if to != nil {
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

// calledOnce reports whether the call is that of a literal where it stands, which may be inlined.
func (r *rewriter) calledOnce(call *ast.CallExpr) bool {
	_, ok := ast.Unparen(call.Fun).(*ast.FuncLit)
	return ok
}

// staysInline reports whether a function that is inlined still is with so many builtin functions
// replaced: its syntax is so short that the inliner's count, which we do not know exactly, stays
// within the budget.
func (r *rewriter) staysInline(c *code, replaced int) bool {
	units := replaced * inlineBulk
	ast.Inspect(c.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil, *ast.BlockStmt, *ast.ExprStmt:
		case *ast.CallExpr:
			if way, _, _ := r.callee(n); way != builtin && way != conversion {
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

// isLarge reports whether the compiler may hold the function for very large. Into one of 5000
// nodes, which are more than those of the syntax, it inlines nothing above 20 units.
func (c *code) isLarge() bool {
	if c.nodes == 0 {
		c.walk(func(ast.Node, []ast.Node) { c.nodes++ })
	}
	return c.nodes > 2500
}

package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
)

// loopCounter finds the counter of a loop, whether the loop declares it or not.
func (r *rewriter) loopCounter(c *code, loop *ast.ForStmt) (counter, bool) {
	if init, ok := loop.Init.(*ast.AssignStmt); loop.Init == nil || ok && init.Tok == token.ASSIGN {
		return r.whileCounter(c, loop)
	}
	return r.counterOf(loop)
}

// whileCounter finds the counter of a loop that uses a variable of the function to count:
//
//	for ; i < n; i++ { … }
//	for i = 0; i < n; i++ { … }
//	for i < n { …; i++ }
//
// In the last form, the step is the last statement of the body, and each iteration reaches it or
// leaves the loop.
func (r *rewriter) whileCounter(c *code, loop *ast.ForStmt) (count counter, ok bool) {
	post, rest := loop.Post, loop.Body.List
	if post == nil {
		if len(rest) == 0 || jumpsAhead(loop.Body) {
			return count, false
		}
		post, rest = rest[len(rest)-1], rest[:len(rest)-1]
	}
	x, step, ok := r.stepOf(post)
	if !ok || step == 0 {
		return count, false
	}
	v, ok := r.info.Uses[x].(*types.Var)
	// a package's variable, or one of the function around a literal, may change at any time
	if !ok || v.Pos() < c.typ.Pos() || v.Pos() >= c.body.End() || r.shared(v, c.body) {
		return count, false
	}
	for _, s := range rest {
		if r.touched(v, s) {
			return count, false
		}
	}
	if v.Pos() >= loop.Pos() || r.touched(v, loop.Cond) {
		return count, false
	}
	count = counter{name: x.Name, obj: v, step: step, bits: leastBits(v.Type())}
	return count, count.bits > 0
}

// jumpsAhead reports whether an iteration may end before the last statement of the body, other than
// by leaving the loop.
func jumpsAhead(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BranchStmt:
			found = found || n.Tok == token.CONTINUE || n.Tok == token.GOTO
		case *ast.LabeledStmt:
			found = true
		}
		return !found
	})
	return found
}

// breaksOut reports whether the body of a loop has a break that leaves the loop.
func breaksOut(n ast.Node) (found bool) {
	ast.Inspect(n, func(m ast.Node) bool {
		switch m := m.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.FuncLit:
			return m == n
		case *ast.BranchStmt:
			found = found || m.Tok == token.BREAK && m.Label == nil
		}
		return !found
	})
	return found
}

package instrument

import (
	"go/ast"
	"go/token"
	"slices"
)

// loop is one loop: a for statement, or a backward goto.
type loop struct {
	stmt  ast.Stmt
	polls bool  // at each iteration, before any call in the body
	every int64 // or after at most this many iterations; 0: never
	cost  int   // of one iteration
}

// left is a place that lacks the poll it should have.
type left struct {
	at        token.Pos
	what, why string
}

// loopsOf finds the loops of a function and makes them poll.
func (r *rewriter) loopsOf(c *code) {
	labels := map[string]token.Pos{}
	c.walk(func(n ast.Node, stack []ast.Node) {
		labelled := false
		if len(stack) > 0 {
			_, labelled = stack[len(stack)-1].(*ast.LabeledStmt)
		}
		switch n := n.(type) {
		case *ast.LabeledStmt:
			// a later label is the target of forward jumps, and is not known yet
			labels[n.Label.Name] = n.Pos()
		case *ast.ForStmt:
			r.loop(c, n, n.Body, labelled, slices.ContainsFunc(stack, isLoop))
		case *ast.RangeStmt:
			r.loop(c, n, n.Body, labelled, slices.ContainsFunc(stack, isLoop))
		case *ast.BranchStmt:
			if n.Tok == token.GOTO && labels[n.Label.Name].IsValid() {
				r.jump(c, n)
			}
		}
	})
}

// outermost lists functions of the standard library in which only the outermost loops poll, because
// their inner loops are short. A throw out of an inner loop of deflate would leave its data
// half-written, and a deferred call that uses the data would panic. The insertion sorts get at most
// 20 elements.
var outermost = map[string]bool{
	"compress/flate.(*compressor).deflate": true,
	"slices.insertionSortOrdered":          true, "slices.insertionSortCmpFunc": true,
	"sort.insertionSort": true, "sort.insertionSort_func": true,
}

func isLoop(n ast.Node) bool {
	switch n.(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return true
	}
	return false
}

// loop decides where a for loop polls: nowhere if it is always short; before each piece if it
// counts its iterations and they are cheap; otherwise at the head of its body. A loop with a label
// is not split, because a continue would lead to the wrong part.
func (r *rewriter) loop(c *code, stmt ast.Stmt, body *ast.BlockStmt, labelled, inner bool) {
	r.stats.Loops++
	l := &loop{stmt: stmt}
	c.loops = append(c.loops, l)
	if name := r.pkg.Path + "." + c.name; r.cost(stmt) <= quick || brief[name] || inner && outermost[name] {
		return
	}
	if why := c.whyNot(body.Lbrace); why != "" {
		if !r.pollBehindReleases(c, body) {
			r.leave(c, stmt.Pos(), "loop", why)
		}
		return
	}
	if !labelled && c.careful < plainly {
		if r.strip(c, l, body); l.every > 0 {
			r.stats.Strips++
			return
		}
	}
	if r.unroll(c, l); l.every == 0 {
		l.polls = true
	}
	r.stats.LoopPolls++
	r.insert(c.file, body.Lbrace+1, r.poll(c))
}

// pollBehindReleases makes a loop that is under a lock at its head poll where it releases the lock
// for a while, and reports whether it does. The loop has no other safe point: its callees poll
// under the lock.
func (r *rewriter) pollBehindReleases(c *code, body *ast.BlockStmt) (polls bool) {
	if c.exempt != "" {
		return false
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit, *ast.ForStmt, *ast.RangeStmt:
			return false
		}
		list := listOf(n)
		if len(list) > 0 {
			if _, returns := list[len(list)-1].(*ast.ReturnStmt); returns {
				// No iteration follows. The function may have done what its caller must know.
				return true
			}
		}
		for i := 1; i < len(list); i++ {
			if isRelease(list[i-1]) && c.whyNot(list[i].Pos()) == "" && !isLeaving(list[i]) {
				r.stats.LoopPolls++
				r.pollBefore(c, list[i].Pos())
				polls = true
			}
		}
		return true
	})
	return polls
}

// listOf returns the statements of a node that contains a statement list.
func listOf(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

// isRelease reports whether a statement releases a lock.
func isRelease(s ast.Stmt) bool {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	c, ok := lockCallOf(e)
	if !ok {
		c, ok = lockCallOf(ast.Unparen(e.X))
	}
	return ok && !c.acquires
}

// isLeaving reports whether a statement ends the loop or defers a call: a poll there could lose
// resources that the function has acquired.
func isLeaving(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.ReturnStmt, *ast.BranchStmt, *ast.DeferStmt:
		return true
	}
	return false
}

// jump makes a backward goto poll. The poll cannot stand at the label: before the label it would
// run only once, and after the label it would separate the label from its statement.
func (r *rewriter) jump(c *code, stmt *ast.BranchStmt) {
	r.stats.Loops++
	if why := c.whyNot(stmt.Pos()); why != "" {
		r.leave(c, stmt.Pos(), "loop", why)
		return
	}
	r.stats.LoopPolls++
	r.pollBefore(c, stmt.Pos())
}

// pollBefore makes the function poll before a statement.
func (r *rewriter) pollBefore(c *code, p token.Pos) {
	c.polls = append(c.polls, p)
	r.insert(c.file, p, r.poll(c))
}

func (r *rewriter) leave(c *code, p token.Pos, what, why string) {
	c.left = append(c.left, left{p, what, why})
	r.stats.Left = append(r.stats.Left, Left{Pos: r.set.Position(p), Func: c.name, What: what, Why: why})
}

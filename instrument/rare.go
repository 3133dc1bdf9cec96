package instrument

import (
	"go/ast"
	"go/token"
	"slices"
)

// rare finds what only few iterations of a loop may do: calls of unknown length that depend on a
// condition, and statements that leave the loop.
//
//	for _, b := range data {
//		if b > 127 { return fail(b) } // at most once in the loop: no part of an iteration
//		buf[n] = b
//		if n++; n == len(buf) { POLL; flush(buf); n = 0 }
//	}
//
// With a poll before each of these calls, the rest of the body may run in pieces. Between two polls
// are at most the iterations of a piece, and one call of unknown length, as in a loop that polls at
// each iteration.
type rare struct {
	r      *rewriter
	c      *code
	broken bool        // a break leaves another statement than the loop
	at     []token.Pos // statements to poll before
	units  int         // upper bound of the cost of an iteration from poll to poll
	free   bool        // an iteration may come here without a poll
	short  bool        // an iteration may end without a poll
}

// rareCalls returns the statements in the body of a loop to poll before, and an upper bound of the
// cost of an iteration from poll to poll. The bound is endless if each iteration would poll, so
// that pieces save nothing.
func (r *rewriter) rareCalls(c *code, body *ast.BlockStmt) (at []token.Pos, units int) {
	w := &rare{r: r, c: c, free: true}
	w.list(body.List)
	const tooMany = 4 // each place has a copy of the code
	if len(w.at) > tooMany || !w.short && !w.free {
		return nil, endless
	}
	return w.at, w.units
}

func (w *rare) list(list []ast.Stmt) {
	if w.leaves(list) {
		w.free = false
		return
	}
	for _, s := range list {
		w.stmt(s)
	}
}

// leaves reports whether an iteration that begins the list leaves the loop.
func (w *rare) leaves(list []ast.Stmt) bool {
	if len(list) == 0 || slices.ContainsFunc(list[:len(list)-1], branchesOff) {
		return false
	}
	switch last := list[len(list)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return last.Tok == token.BREAK && last.Label == nil && !w.broken
	}
	return false
}

// branchesOff reports whether control may leave the statement elsewhere than at its end, apart from
// returns.
func branchesOff(s ast.Stmt) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		_, ok := n.(*ast.BranchStmt)
		found = found || ok
		return !found
	})
	return found
}

// stmt adds the parts of a statement.
func (w *rare) stmt(s ast.Stmt) {
	lists := branches(s)
	inside := map[ast.Node]bool{}
	for _, s := range slices.Concat(lists...) {
		inside[s] = true
	}
	outside := func(costOf func(ast.Node) (int, bool)) int {
		return sumOf(s, func(n ast.Node) (units int, whole bool) {
			if inside[n] {
				return 0, true
			}
			return costOf(n)
		})
	}
	units := outside(w.r.costFromPoll(w.c))
	if units >= endless && w.mayPollBefore(s) {
		w.at, w.free = append(w.at, s.Pos()), false
		units = outside(w.r.costIfKnown)
	}
	w.units = min(w.units+units, endless)
	w.lists(s, lists)
}

// lists adds the statement lists in a statement, which runs at most one of them.
func (w *rare) lists(s ast.Stmt, lists [][]ast.Stmt) {
	from, broken, out := w.free, w.broken, w.free && !runsOne(s)
	switch s := s.(type) {
	case *ast.BranchStmt:
		w.short = w.short || w.free && s.Tok == token.CONTINUE
		w.free = false
		return
	case *ast.BlockStmt, *ast.IfStmt:
	default:
		w.broken = true
	}
	for _, list := range lists {
		w.free = from
		w.list(list)
		out = out || w.free
	}
	w.free, w.broken = out, broken
}

// runsOne reports whether a statement always runs one of the statement lists in it.
func runsOne(s ast.Stmt) bool {
	var cases *ast.BlockStmt
	switch s := s.(type) {
	case *ast.BlockStmt:
		return true
	case *ast.IfStmt:
		return s.Else != nil && runsOne(s.Else)
	case *ast.SwitchStmt:
		cases = s.Body
	case *ast.TypeSwitchStmt:
		cases = s.Body
	}
	return cases != nil && slices.ContainsFunc(cases.List, func(s ast.Stmt) bool { return s.(*ast.CaseClause).List == nil })
}

// mayPollBefore reports whether a poll may stand before the statement.
func (w *rare) mayPollBefore(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.AssignStmt, *ast.ExprStmt, *ast.DeclStmt, *ast.IfStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.ForStmt, *ast.RangeStmt:
		return w.c.whyNot(s.Pos()) == ""
	}
	return false
}

package instrument

import (
	"go/ast"
	"go/token"
	"slices"
)

// enter makes a function poll before it makes any of the calls. The polls stand where the paths to
// the calls diverge, so a path without such a call does not poll.
func (r *rewriter) enter(c *code, calls []token.Pos) {
	at := places(c.body.List, calls)
	const tooMany = 4 // each place has a copy of the code
	if len(at) > tooMany || c.jumps() {
		at = []token.Pos{c.body.List[0].Pos()}
	}
	first := c.body.List[0].Pos()
	if c.whyNot(first) == "" && slices.ContainsFunc(at, func(p token.Pos) bool { return c.whyNot(p) != "" || c.heldAt(p) != nil }) {
		at = []token.Pos{first} // before the lock
	}
	for _, p := range at {
		if why := c.whyNot(p); why != "" {
			r.leave(c, c.body.Pos(), "recursion", why)
			return
		}
	}
	for _, p := range at {
		r.stats.Entries++
		r.pollBefore(c, p)
	}
}

// jumps reports whether the function has a goto, which could jump past a poll.
func (c *code) jumps() (found bool) {
	c.walk(func(n ast.Node, _ []ast.Node) {
		b, ok := n.(*ast.BranchStmt)
		found = found || ok && b.Tok == token.GOTO
	})
	return found
}

// places returns the statements to poll before, so that each path to a call contains a poll before
// the call.
func places(list []ast.Stmt, calls []token.Pos) []token.Pos {
	first := slices.IndexFunc(list, func(s ast.Stmt) bool { return countIn(s, calls) > 0 })
	if first < 0 {
		return nil
	}
	n := countIn(list[first], calls)
	if n == len(calls) {
		var at []token.Pos
		for _, b := range branches(list[first]) {
			var inside []token.Pos
			for _, p := range calls {
				if len(b) > 0 && b[0].Pos() <= p && p < b[len(b)-1].End() {
					inside = append(inside, p)
				}
			}
			n -= len(inside)
			at = append(at, places(b, inside)...)
		}
		if n == 0 {
			return at
		}
	}
	if n == 1 && len(calls) > 0 {
		if behind := behindDefers(list[first:]); behind != nil {
			return []token.Pos{behind.Pos()}
		}
	}
	return []token.Pos{list[first].Pos()}
}

// behindDefers returns the statement after the leading defer statements of the list, or nil if it
// starts with none. A poll cannot stand just before them: a throw there would lose the resources
// that they release.
func behindDefers(list []ast.Stmt) ast.Stmt {
	for i, s := range list {
		d, ok := s.(*ast.DeferStmt)
		if !ok {
			if i == 0 {
				return nil
			}
			return s
		}
		if _, twice := ast.Unparen(d.Call.Fun).(*ast.CallExpr); twice {
			return nil // one of the calls happens immediately
		}
	}
	return nil
}

func countIn(s ast.Stmt, calls []token.Pos) (n int) {
	for _, p := range calls {
		if s.Pos() <= p && p < s.End() {
			n++
		}
	}
	return n
}

// branches returns the statement lists of a statement that runs at most one of them, once.
func branches(s ast.Stmt) (lists [][]ast.Stmt) {
	clauses := func(b *ast.BlockStmt) {
		for _, c := range b.List {
			switch c := c.(type) {
			case *ast.CaseClause:
				lists = append(lists, c.Body)
			case *ast.CommClause:
				lists = append(lists, c.Body)
			}
		}
	}
	switch s := s.(type) {
	case *ast.BlockStmt:
		return [][]ast.Stmt{s.List}
	case *ast.IfStmt:
		lists = append(lists, s.Body.List)
		if s.Else != nil {
			lists = append(lists, branches(s.Else)...)
		}
	case *ast.SwitchStmt:
		clauses(s.Body)
	case *ast.TypeSwitchStmt:
		clauses(s.Body)
	case *ast.SelectStmt:
		clauses(s.Body)
	}
	return lists
}

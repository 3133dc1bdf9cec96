package instrument

import (
	"go/ast"
	"go/token"
	"slices"
)

// enter makes a function poll before it makes any of the calls. The polls stand where the paths to
// the calls diverge, so a path without such a call does not poll.
func (r *rewriter) enter(c *code, calls []token.Pos) {
	at, ok := c.places(c.body.List, calls)
	const tooMany = 4 // each place has a copy of the code
	if !ok || len(at) > tooMany || c.jumps() {
		at = c.entry()
	}
	underLock := func(p token.Pos) bool { return c.whyNot(p) != "" || c.heldAt(p) != nil }
	if first := c.body.List[0]; c.whyNot(first.Pos()) == "" && !c.isBehindAcquisition(first) && slices.ContainsFunc(at, underLock) {
		at = []token.Pos{first.Pos()} // before the lock
	}
	for _, p := range at {
		if why := c.whyNot(p); why != "" {
			r.leave(c, c.body.Pos(), "recursion", why)
			return
		}
	}
	for _, p := range at {
		r.stats.Entries++
		if ret := c.returnBehind(p, calls); ret != nil && !r.pollsInline(c) {
			r.tails = append(r.tails, tail{c.file, len(c.file.edits), ret})
		}
		r.pollBefore(c, p)
	}
}

// entry returns the first statement of the body to poll before. If there is none, the deferred
// calls are all that the function does, and it polls at its beginning.
func (c *code) entry() []token.Pos {
	for _, s := range c.body.List {
		if !c.isBehindAcquisition(s) {
			return []token.Pos{s.Pos()}
		}
	}
	return []token.Pos{c.body.List[0].Pos()}
}

// isBehindAcquisition reports whether a throw before the statement would lose a resource that a later
// defer statement releases, or that the function releases or hands over without one.
func (c *code) isBehindAcquisition(s ast.Stmt) bool {
	return c.isLoose(s.Pos()) || slices.ContainsFunc(c.byHand, func(in *fannedStretch) bool { return in.has(s.Pos()) })
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
// the call. It reports false if the list has no statement before which a throw would be harmless.
func (c *code) places(list []ast.Stmt, calls []token.Pos) (at []token.Pos, ok bool) {
	first := slices.IndexFunc(list, func(s ast.Stmt) bool { return countIn(s, calls) > 0 })
	if first < 0 {
		return nil, true
	}
	if countIn(list[first], calls) == len(calls) {
		if at, ok := c.placesInBranches(list[first], calls); ok {
			return at, true
		}
	}
	// a poll before a call that is only deferred can follow the statement
	for i := first; i < len(list) && defersOnly(list[i], calls); i++ {
		if i+1 < len(list) && !c.isBehindAcquisition(list[i+1]) {
			return []token.Pos{list[i+1].Pos()}, true
		}
	}
	before := slices.Clone(list[:first+1])
	if !defersOnly(list[first], calls) { // else as early as possible: a statement before the defer may acquire
		slices.Reverse(before)
	}
	for _, s := range before {
		if !c.isBehindAcquisition(s) {
			return []token.Pos{s.Pos()}, true
		}
	}
	return nil, false
}

// placesInBranches returns the places in the branches of a statement, if all calls are there.
func (c *code) placesInBranches(s ast.Stmt, calls []token.Pos) (all []token.Pos, ok bool) {
	n := len(calls)
	for _, b := range branches(s) {
		var inside []token.Pos
		for _, p := range calls {
			if len(b) > 0 && b[0].Pos() <= p && p < b[len(b)-1].End() {
				inside = append(inside, p)
			}
		}
		n -= len(inside)
		at, ok := c.places(b, inside)
		if !ok {
			return nil, false
		}
		all = append(all, at...)
	}
	return all, n == 0
}

// defersOnly reports whether a statement defers a call, and makes none of the calls immediately.
func defersOnly(s ast.Stmt, calls []token.Pos) bool {
	d, ok := s.(*ast.DeferStmt)
	return ok && !slices.ContainsFunc(calls, func(p token.Pos) bool { return d.Pos() <= p && p < d.Call.Rparen })
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

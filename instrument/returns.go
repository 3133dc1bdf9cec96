package instrument

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
)

// A deferred call of a returning function looks on the stack like a call on the line of the return
// statement if the compiler open-codes it, or else of the closing brace. So these lines are
// registered with package safepoint, like lines with locks. A line on which other code may call a
// poll is not usable: then directives give the return statement, or the brace, the number of
// another line, and nothing else in the text changes.

// place is a line of a file as a stack trace shows it; the file is without its folder.
type place struct {
	file string
	line int
}

func (r *rewriter) placeOf(p token.Pos) place {
	at := r.set.Position(p)
	return place{filepath.Base(at.Filename), at.Line}
}

// returnsOf finds the places at which the function makes deferred calls that may reach a poll.
func (r *rewriter) returnsOf(c *code) {
	defers, ends, others := false, []span{}, []place{r.placeOf(c.body.Rbrace)}
	c.walk(func(n ast.Node, stack []ast.Node) {
		switch n := n.(type) {
		case *ast.DeferStmt:
			defers = defers || r.comesToPoll(n.Call)
			others = append(others, r.placeOf(n.Pos()))
		case *ast.ReturnStmt:
			ends = append(ends, span{n.Return, n.Return + token.Pos(len("return"))})
			for _, around := range stack {
				if rng, ok := around.(*ast.RangeStmt); ok && !r.plain(rng.X) {
					// the loop's body is a function, and returns there
					ends = append(ends, span{rng.Body.Rbrace, rng.Body.Rbrace + 1})
					break
				}
			}
		}
	})
	if !defers || c.careful >= not {
		return
	}
	ends = append(ends, span{c.body.Rbrace, c.body.Rbrace + 1})
	for _, end := range ends {
		r.end(c, end, others)
	}
}

// lastOf returns the last of the statements, or nil.
func lastOf(list []ast.Stmt) ast.Stmt {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

// end notes the line of a token that ends a function, or gives the token one of the other lines if
// possible.
func (r *rewriter) end(c *code, token span, others []place) {
	if slices.Contains(c.moved, token) {
		return
	}
	at := r.placeOf(token.from)
	line := r.freeLine(at, others)
	if line != at {
		c.moved = append(c.moved, token)
		r.insert(c.file, token.from, fmt.Sprintf("/*line :%d:1*/", line.line))
		r.insert(c.file, token.to, fmt.Sprintf("/*line :%d:%d*/", at.line, max(r.set.Position(token.to).Column, 1)))
	}
	r.ends[line] = true
}

// freeLine returns a line on which nothing may call a poll: the line of the place, one of the other
// lines, or the nearest line.
func (r *rewriter) freeLine(at place, others []place) place {
	for _, other := range append([]place{at}, others...) {
		if other.file == at.file && !r.busy[other] {
			return other
		}
	}
	for d := 0; ; d++ {
		for _, near := range []place{{at.file, at.line + d}, {at.file, at.line - d}} {
			if near.line > 0 && !r.busy[near] {
				return near
			}
		}
	}
}

// busyLines finds the lines on which the function calls another function, or polls. The line of a
// call is the line of its parenthesis; the line of a deferred call is the line of the function's
// end.
func (r *rewriter) busyLines(c *code) {
	mark := func(from, to token.Pos) {
		first, last := r.placeOf(from), r.placeOf(to)
		for line := first.line; line <= last.line; line++ {
			r.busy[place{first.file, line}] = true
		}
		r.busy[first], r.busy[last] = true, true // there may be a line directive between them
	}
	c.walk(func(n ast.Node, stack []ast.Node) {
		switch n := n.(type) {
		case *ast.ForStmt:
			mark(n.For, n.Body.Lbrace)
		case *ast.RangeStmt:
			mark(n.For, n.Body.Lbrace)
		case *ast.CallExpr:
			target, _, _ := r.callee(n)
			quiet := target == conversion || target == builtin && !r.bulks[n]
			switch stack[len(stack)-1].(type) {
			case *ast.DeferStmt, *ast.GoStmt:
				quiet = true
			}
			if !quiet {
				mark(n.Lparen, n.Lparen)
			}
		}
	})
	for _, p := range c.polls {
		mark(p, p)
	}
}

// comesToPoll reports whether the call, including its callees, may reach a poll.
func (r *rewriter) comesToPoll(call *ast.CallExpr) bool {
	switch target, c, f := r.callee(call); target {
	case builtin, conversion:
		return r.bulks[call]
	case own:
		return c == nil || r.hasPoll(c)
	case outside:
		return f.Pkg() == nil || !swift[f.Pkg().Path()] && reason(refused, f.Pkg().Path()) == ""
	}
	return true
}

// hasPoll reports whether a function of the package, including its callees, may poll.
func (r *rewriter) hasPoll(c *code) bool {
	if known, ok := r.pollers[c]; ok {
		return known
	}
	r.pollers[c] = true // for recursion: every cycle contains a poll
	found := len(c.polls) > 0 || slices.ContainsFunc(c.loops, func(l *loop) bool { return l.polls || l.every > 0 })
	c.walk(func(n ast.Node, _ []ast.Node) {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = found || r.comesToPoll(n)
		case *ast.RangeStmt:
			found = found || !r.plain(n.X)
		}
	})
	r.pollers[c] = found
	return found
}

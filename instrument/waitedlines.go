package instrument

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
)

// has reports whether a poll at p is in the stretch.
func (s *fannedStretch) has(p token.Pos) bool {
	return slices.ContainsFunc(s.spans, func(s span) bool { return s.has(p) && p < s.to })
}

// keepFanned registers the lines on which a poll in a stretch, or in a call there, would throw. A
// task can be suspended there.
func (r *rewriter) keepFanned(c *code) {
	all := append(c.entrusted(), c.fanned...)
	if len(all) == 0 {
		return
	}
	elsewhere := r.linesElsewhere(c)
	for _, s := range all {
		r.linesIn(c, s, func(at token.Pos, call bool) {
			switch line := r.placeOf(at); {
			case !elsewhere[line]:
				r.ends[line] = true
			case call: // g.Go(func() error { return work() }) in one line
				r.end(c, span{at, at + 1}, nil)
			}
		})
	}
}

// linesIn calls keep with a position on each line on which a poll in a stretch, or in a call there,
// may throw. A call has the position of its parenthesis.
func (r *rewriter) linesIn(c *code, s *fannedStretch, keep func(at token.Pos, call bool)) {
	f := r.set.File(c.body.Pos())
	for _, l := range c.loops {
		if slices.Contains(s.heads, l.stmt) {
			last := r.set.PositionFor(bodyOf(l.stmt).Lbrace, false).Line
			for line := r.set.PositionFor(l.stmt.Pos(), false).Line; line <= last; line++ {
				keep(max(f.LineStart(line), l.stmt.Pos()), false)
			}
		}
	}
	for _, n := range s.nodes {
		ast.PreorderStack(n, nil, func(n ast.Node, stack []ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && !isLater(call, stack) && r.comesToPoll(call) {
				keep(call.Lparen, !r.bulks[call])
			}
			_, lit := n.(*ast.FuncLit)
			return !lit
		})
	}
	for _, p := range c.polls {
		if s.has(c.continuesAt(p)) {
			keep(p, false)
		}
	}
}

// linesElsewhere returns the lines on which a literal of the function may poll. Another goroutine,
// or a task that the function starts, may run the literal.
func (r *rewriter) linesElsewhere(c *code) map[place]bool {
	all := map[place]bool{}
	ast.Inspect(c.body, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if !ok {
			return true
		}
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if r.comesToPoll(n) {
					all[r.placeOf(n.Lparen)] = true
				}
			case *ast.ForStmt, *ast.RangeStmt:
				all[r.placeOf(n.Pos())] = true
			}
			return true
		})
		return false
	})
	return all
}

// why returns the reason for the stretch.
func (f *fanOut) why(r *rewriter) string {
	last := token.NoPos
	for _, w := range f.waits {
		last = max(last, w.Pos())
	}
	for s := range f.ends {
		last = max(last, s.Pos())
	}
	for s := range f.cases {
		last = max(last, s.Pos())
	}
	why := "goroutines use %s, and line %d waits for them"
	switch {
	case f.group:
		why = "goroutines of %s work, and line %d waits for them"
	case f.entrusted:
		why = "%s may have to be released, and line %d returns it to a caller that defers that"
	case f.asks:
		why = "a goroutine has a request with %s, and line %d receives the answer"
	}
	return fmt.Sprintf(why, f.path, r.set.Position(last).Line)
}

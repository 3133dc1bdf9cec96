package instrument

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// gapsOfLost returns a gap for each resource that the function acquires, and releases by no
// deferred call, if a throw in between would lose the resource. (Such a throw has waited for a
// while, see byHandStretches.)
func (s *survey) gapsOfLost(c *code) (at []token.Pos, gaps []Gap) {
	closers := s.r.closersIn(s.r.storesOf(c))
	for _, stretch := range c.byHand {
		if stretch.by.entrusted || !s.pollsIn(c, stretch) {
			continue
		}
		name, line := stretch.by.path, s.r.set.Position(stretch.by.waits[0].Pos()).Line
		why := fmt.Sprintf("line %d releases %s, but no deferred call does: a throw before it loses %[2]s", line, name)
		if _, returns := stretch.by.waits[0].(*ast.ReturnStmt); returns {
			why = fmt.Sprintf("line %d returns %s: a throw before it loses %[2]s", line, name)
		}
		isIt := func(v *types.Var) bool { return v == stretch.by.of }
		if call, ok := stretch.by.waits[0].(*ast.CallExpr); ok && !slices.ContainsFunc(s.r.releasedBy(call, closers), isIt) {
			why = fmt.Sprintf("line %d passes %s on, and no deferred call releases it: a throw before it loses %[2]s", line, name)
		}
		at, gaps = append(at, stretch.first.Pos()), append(gaps, Gap{Kind: GapLost, Why: why, Length: Unbounded})
	}
	return at, gaps
}

// pollsIn reports whether the function may be thrown into in a stretch.
func (s *survey) pollsIn(c *code, in *fannedStretch) bool {
	if slices.ContainsFunc(c.polls, in.has) {
		return true
	}
	for _, l := range c.loops {
		if (l.polls || l.every > 0) && slices.Contains(in.heads, l.stmt) {
			return true
		}
	}
	return slices.ContainsFunc(in.nodes, func(n ast.Node) (found bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			found = found || ok && s.r.comesToPoll(call) && !slices.Contains(in.by.waits, ast.Node(call)) && c.heldAt(call.Pos()) == nil && !s.r.ends[s.r.placeOf(call.Lparen)]
			_, lit := n.(*ast.FuncLit)
			return !lit && !found
		})
		return found
	})
}

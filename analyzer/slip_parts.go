package analyzer

import (
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// maxParts bounds how many parts of a condition are judged.
const maxParts = 32

// parts returns the combinations of conditions that each alone fulfil all conds: of "a and (b or
// c)" the two "a, b" and "a, c". It returns nil if there are too many.
func (a *analysis) parts(conds []condition) [][]condition {
	a.partsLeft = 8 * maxParts
	all := [][]condition{nil}
	for _, cond := range conds {
		all = combined(all, a.partsOf(cond))
	}
	return all
}

func (a *analysis) partsOf(c condition) [][]condition {
	if a.partsLeft--; a.partsLeft < 0 {
		return nil
	}
	n := a.named(c.Node)
	switch {
	case n == nil:
	case n.Op == ir.OpNot:
		return a.partsOf(condition{n.A, !c.holds})
	case n.Op == ir.OpAnd && c.holds, n.Op == ir.OpOr && !c.holds:
		return combined(a.partsOf(condition{n.A, c.holds}), a.partsOf(condition{n.B, c.holds}))
	case n.Op == ir.OpAnd, n.Op == ir.OpOr:
		one, other := a.partsOf(condition{n.A, c.holds}), a.partsOf(condition{n.B, c.holds})
		if len(one) == 0 || len(other) == 0 || len(one)+len(other) > maxParts {
			return nil
		}
		return slices.Concat(one, other)
	}
	return [][]condition{{c}}
}

// combined returns each part of one with each part of the other.
func combined(one, other [][]condition) (all [][]condition) {
	if len(one)*len(other) > maxParts {
		return nil
	}
	for _, x := range one {
		for _, y := range other {
			all = append(all, slices.Concat(x, y))
		}
	}
	return all
}

// judgeParts warns of a throw that one part of an "or" leads to on the wrong grounds, where another
// part is right, as in queue.oldest > duration("1s") or queue.length < 10. A stub that the whole
// condition follows in both ways is about a range, and not wrong.
func (c *contraries) judgeParts(n *ir.Node, conds []condition) {
	parts := c.a.parts(conds)
	if c.found != nil || c.decision != stubs.Throw || len(parts) < 2 {
		return
	}
	whole := c.a.groundsOf(conds)
	for _, part := range parts {
		g := c.a.groundsOf(part)
		for _, why := range []reason{load, spent, abandoned} {
			if !g.wrong[why] || !whole.wrongBy(g.by[why].Stub) || g.right[load] || g.draws || why != load && (g.right != [allReasons]bool{} || g.about(ir.Read.OfState)) {
				continue
			}
			for _, at := range part {
				if a := c.a.groundsOf([]condition{at}); a.wrong[why] && why == abandoned {
					c.found = &Warning{c.a.p.Errorf(at.Node, "remove the not, or join the conditions with and",
						"%s leads to %s by itself, for each task that has a caller", c.showing(at), c.a.text(n))}
					return
				} else if a.wrong[why] {
					c.found = &Warning{c.a.p.Errorf(at.Node, "compare the other way round, or join the conditions with and",
						"%s leads to %s by itself, while %v is low", c.showing(at), c.a.text(n), g.by[why])}
					return
				}
			}
		}
	}
}

// showing quotes a condition as it leads to the verdict.
func (c *contraries) showing(at condition) string {
	text := c.a.text(at.Node)
	switch {
	case at.holds:
		return text
	case strings.HasPrefix(text, "("), !strings.Contains(text, " "):
		return "not " + text
	}
	return "not (" + text + ")"
}

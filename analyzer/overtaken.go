package analyzer

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
)

// overtaken returns a warning about a throw, a switch or an effect whose condition is a part of
// what an earlier choice decides: the second of a > 5 and b > 5 ? ... : a > 9 and b > 9 ? .... The
// walk of the analysis does not see that, because it keeps the facts about a and b apart. told are
// the other warnings.
func (a *analysis) overtaken(told []Warning) (all []Warning) {
	if len(a.p.Choices) < 2 {
		return nil
	}
	open := map[*ir.Node]bool{} // reached on some path
	w := &pathwise{a: newAnalysis(a.p, 0), left: maxPaths}
	w.a.lenient = true
	w.walk(a.p.Root, func(last *ir.Node) {
		mark := w.a.facts.mark()
		defer w.a.facts.undo(mark)
		for _, c := range conditionsOf(a.p.Root, last) {
			w.a.eval(a.named(c.Node))
		}
		if !w.a.facts.dead {
			open[last] = true
			for _, n := range w.fired {
				open[n] = true
			}
		}
	})
	a.p.Root.Any(func(n *ir.Node) bool {
		acts := n.Op == ir.OpEffect || throws(n) || n.Op == ir.OpVerdict && n.Imm != 0
		known := slices.ContainsFunc(told, func(w Warning) bool { return w.Pos == n.Pos })
		if w.left > 0 && acts && a.reached[n] && !open[n] && !known {
			all = append(all, Warning{a.p.Errorf(n, "write the choice of the narrower condition first", "%s is never reached: an earlier choice decides in all these cases", a.text(n))})
		}
		return len(all) > 0
	})
	return all
}

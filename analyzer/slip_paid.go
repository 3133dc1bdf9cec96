package analyzer

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// paid warns of a throw into a task that has had its tokens: the policy takes before it looks at its
// other conditions, and tokens do not come back. A throw because another bucket is empty has no
// warning, for one of two takes must be the first.
func (a *analysis) paid() (all []Warning) {
	if !a.p.Root.Any(isTake) {
		return nil
	}
	p := payments{a: a, left: maxPaths * maxParts}
	p.follow(a.p.Root, [][]condition{nil})
	if p.taken == nil {
		return nil
	}
	return []Warning{{a.p.Errorf(p.taken, "let take() be the last condition; or take in a policy of its own, if such tasks are to pay, too",
		"%s has taken tokens when %s meets the task for another reason: they are lost", a.text(p.taken), a.text(p.thrown))}}
}

// payments looks for a path on which a policy takes tokens and throws in spite of that.
type payments struct {
	a             *analysis
	taken, thrown *ir.Node
	kept          *ir.Node // a take for a task that the policy lets in
	left          int      // how many more conditions are looked at
}

// follow goes through a statement; before holds what may have been evaluated before it, in order.
func (p *payments) follow(n *ir.Node, before [][]condition) {
	if p.taken != nil || len(before) == 0 {
		return
	}
	switch n.Op {
	case ir.OpVerdict:
		if i := slices.IndexFunc(before, func(order []condition) bool { return slices.ContainsFunc(order, succeeds) }); !throws(n) && p.a.reached[n] && i >= 0 {
			p.kept = before[i][slices.IndexFunc(before[i], succeeds)].Node
		}
		if i := slices.IndexFunc(before, p.lost); throws(n) && p.a.reached[n] && i >= 0 {
			p.taken, p.thrown = before[i][slices.IndexFunc(before[i], succeeds)].Node, n
		}
	case ir.OpSeq:
		p.follow(n.B, before)
	case ir.OpLet:
		if n.A.Type == stubs.Bool && n.A.Any(isTake) {
			before = slices.Concat(p.then(before, condition{n.A, true}), p.then(before, condition{n.A, false}))
		}
		p.follow(n.B, before)
	case ir.OpIf:
		p.follow(n.B, p.then(before, condition{n.A, true}))
		p.follow(n.C, p.then(before, condition{n.A, false}))
	}
}

// then returns what has been evaluated after a condition. It leaves out what contradicts an earlier
// take, and all if there is too much.
func (p *payments) then(before [][]condition, c condition) (all [][]condition) {
	all = combined(before, p.orders(c))
	return slices.DeleteFunc(all, func(order []condition) bool {
		return slices.ContainsFunc(order, func(c condition) bool {
			return isTake(c.Node) && slices.Contains(order, condition{c.Node, !c.holds})
		})
	})
}

// orders returns the parts of a condition that an evaluation may have, in order, if the condition
// has the value: the right side of an "and" follows if the left one is true.
func (p *payments) orders(c condition) [][]condition {
	n := p.a.named(c.Node)
	if p.left--; p.left < 0 || n == nil {
		return nil
	}
	switch n.Op {
	case ir.OpNot:
		return p.orders(condition{n.A, !c.holds})
	case ir.OpAnd, ir.OpOr:
		on := n.Op == ir.OpAnd // the value of the left side with which the right one is evaluated
		both := combined(p.orders(condition{n.A, on}), p.orders(condition{n.B, c.holds}))
		if c.holds == on {
			return both
		}
		return slices.Concat(p.orders(condition{n.A, !on}), both)
	}
	return [][]condition{{{n, c.holds}}}
}

// lost reports whether a take has succeeded and none has failed, and another condition follows it.
func (p *payments) lost(order []condition) bool {
	i := slices.IndexFunc(order, succeeds)
	failed := slices.ContainsFunc(order, func(c condition) bool { return isTake(c.Node) && !c.holds })
	return i >= 0 && !failed && slices.ContainsFunc(order[i:], func(c condition) bool { return !isTake(c.Node) })
}

func isTake(n *ir.Node) bool { return n.Op == ir.OpTake }

func succeeds(c condition) bool { return isTake(c.Node) && c.holds }

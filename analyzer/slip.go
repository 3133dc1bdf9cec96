package analyzer

import (
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// slips warns of valid policies that most likely do not do what their author means.
func (a *analysis) slips() {
	a.everyTask()
	a.atOnce(a.p.Root)
	a.oneInterval()
	a.apartFromNaN()
	a.ofItself()
	a.sums()
	a.quoted()
	a.everyName()
	a.wholeNames()
	a.busyAlone()
	a.timeOfDay()
	a.mixedClock()
	a.oneDay()
	a.mixed()
	a.nearWindows()
	weights := weightsIn(a.p.Root)
	a.p.Root.Any(func(n *ir.Node) bool {
		switch n.Op {
		case ir.OpDiv, ir.OpMul, ir.OpAdd, ir.OpSub:
			a.vacuous(n, weights)
			a.countedTwice(n)
		case ir.OpIf:
			a.sameSides(n)
			a.inverted(n)
		case ir.OpEffect:
			a.urgency(n)
			a.toItself(n)
		case ir.OpVerdict:
			a.retry(n)
		case ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe, ir.OpEq, ir.OpNe:
			a.comparison(n)
			a.misplaced(n)
			a.oneRead(n)
		}
		return false
	})
}

// everyTask warns of a throw into all running tasks: nothing in the policy is about a task.
func (a *analysis) everyTask() {
	about := func(r ir.Read) bool { return r.Stub <= stubs.ClassService || r.Stub == stubs.Draw || r.By != nil }
	m := a.declared
	if a.interval == 0 || a.p.On != stubs.Tick || len(m.Tasks)+len(m.Kinds) > 0 || slices.ContainsFunc(a.p.Reads, about) {
		return
	}
	a.p.Root.Any(func(n *ir.Node) bool {
		throws := n.Op == ir.OpVerdict && stubs.Decision(n.Imm) == stubs.Throw && a.reached[n]
		if throws {
			a.warn(n, "evaluate it on enqueue, to refuse tasks; or compare task.*, or limit it by match",
				"%s ends all running tasks at once: nothing in the policy is about a task", a.text(n))
		}
		return throws
	})
}

// atOnce warns of a cancel() that no condition precedes.
func (a *analysis) atOnce(n *ir.Node) {
	switch n.Op {
	case ir.OpSeq:
		a.atOnce(n.A)
		a.atOnce(n.B)
	case ir.OpLet:
		a.atOnce(n.B)
	case ir.OpEffect:
		if a.p.Sites[n.Index].Effect == stubs.Cancel {
			a.warn(n, "write a condition in front of it", "%s ends the policy at its first evaluation", a.text(n))
		}
	}
}

// sameSides warns of a choice between two equal sides.
func (a *analysis) sameSides(n *ir.Node) {
	if b, c := a.text(n.B), a.text(n.C); b == c && len(b) < maxQuote-3 && !isLowered(n) && slices.Contains(a.p.Choices, n) && b != "continue()" {
		a.warn(n, "", "both sides of the choice are %s", b)
	}
}

// inverted warns of a policy that throws when its take succeeds.
func (a *analysis) inverted(n *ir.Node) {
	cond, one, other := a.named(n.A), n.B, n.C
	for cond != nil && cond.Op == ir.OpNot {
		cond, one, other = a.named(cond.A), other, one
	}
	if cond != nil && cond.Op == ir.OpTake && throws(one) && !throws(other) {
		a.warn(cond, "write not take(...) ? throw(...) : continue()", "%s is true when there are tokens, and then the policy throws", a.text(cond))
	}
}

// maxRetry is the greatest retry time that a caller is told.
const maxRetry = 24 * time.Hour

// retry warns of a retry time that no caller is told, whatever the values that the policy reads.
func (a *analysis) retry(n *ir.Node) {
	v, reached := a.values[n.A]
	if n.A == nil || !reached {
		return
	}
	switch least, most := time.Duration(v.ints.lo), time.Duration(v.ints.hi); {
	case least == most && most < time.Millisecond:
		a.warn(n.A, "leave it out", "a retry time of %v tells the caller nothing", most)
	case most <= 0:
		a.warn(n.A, "leave it out, or subtract the other way round", "the retry time %s is never above 0 here, and tells the caller nothing", a.text(n.A))
	case least > maxRetry:
		a.warn(n.A, "", "the caller is told to come back after %v at most, and this is %v", maxRetry, least)
	}
}

// comparison warns of a comparison of a hash with a small number, and of one that asks whether a
// time is exactly as long as a constant.
func (a *analysis) comparison(n *ir.Node) {
	x, y := a.named(n.A), a.named(n.B)
	if x == nil || y == nil {
		return
	}
	if x.Op == ir.OpConst {
		x, y = y, x
	}
	switch {
	case x.Op == ir.OpRead && a.reads[x.Index].Stub == stubs.Draw:
		a.wholeChance(n, y)
	case y.Op != ir.OpConst:
	case x.Op == ir.OpRead && y.Type == stubs.Float:
		a.processors(n, x, y)
	case x.Op == ir.OpMul && y.Type == stubs.Float:
		a.percentage(n, x, y)
	case n.A.Type == stubs.Float && x.Op == ir.OpFloat && isFraction(y):
		a.fraction(n, x.A, y)
	case x.Op == ir.OpMix && int64(y.Imm) < large:
		a.warn(n, "write hash(...) % 100 < 5 for 5 of 100", "hash() is a number of 63 bits, and %d is not a share of them", int64(y.Imm))
	case n.Op != ir.OpEq && n.Op != ir.OpNe || x.Op != ir.OpRead || x.Type != stubs.Duration:
	default:
		stub := a.reads[x.Index].Stub
		deadline := stub == stubs.TaskDeadline || stub == stubs.ArrivingDeadline
		if deadline || clocks[stub] && y.Imm != 0 || stub == stubs.RuntimeUptime {
			a.warn(n, "compare with < or >; a task without a deadline has the greatest duration", "%s is hardly ever exactly %v", a.text(x), time.Duration(y.Imm))
		}
	}
}

// isOrdering reports whether an operation is a comparison by order: <, <=, > or >=.
func isOrdering(op ir.Op) bool {
	return op == ir.OpLt || op == ir.OpLe || op == ir.OpGt || op == ir.OpGe
}

package analyzer

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// slips warns of policies that are in order, and most likely mean the opposite or something else.
func (a *analysis) slips() {
	a.everyTask()
	a.atOnce(a.p.Root)
	a.quoted()
	a.p.Root.Any(func(n *policy.Node) bool {
		switch n.Op {
		case policy.OpIf:
			a.sameSides(n)
			a.inverted(n)
		case policy.OpEffect:
			a.urgency(n)
		case policy.OpVerdict:
			a.retry(n)
		case policy.OpLt, policy.OpLe, policy.OpGt, policy.OpGe, policy.OpEq, policy.OpNe:
			a.comparison(n)
		}
		return false
	})
}

// everyTask warns of a throw into all running tasks: nothing in the policy is about a task.
func (a *analysis) everyTask() {
	about := func(r policy.Read) bool { return r.Stub <= stubs.ClassService || r.Stub == stubs.Draw || r.By != nil }
	m := a.declared
	if a.interval == 0 || a.p.On != stubs.Tick || len(m.Tasks)+len(m.Except)+len(m.Kinds) > 0 || slices.ContainsFunc(a.p.Reads, about) {
		return
	}
	a.p.Root.Any(func(n *policy.Node) bool {
		throws := n.Op == policy.OpVerdict && stubs.Decision(n.Imm) == stubs.Throw && a.reached[n]
		if throws {
			a.warn(n, "evaluate it on enqueue, to refuse tasks; or compare task.*, or limit it by match",
				"%s ends all running tasks at once: nothing in the policy is about a task", a.text(n))
		}
		return throws
	})
}

// atOnce warns of a cancel() that no condition precedes.
func (a *analysis) atOnce(n *policy.Node) {
	switch n.Op {
	case policy.OpSeq:
		a.atOnce(n.A)
		a.atOnce(n.B)
	case policy.OpLet:
		a.atOnce(n.B)
	case policy.OpEffect:
		if a.p.Sites[n.Index].Effect == stubs.Cancel {
			a.warn(n, "write a condition in front of it", "%s ends the policy at its first evaluation", a.text(n))
		}
	}
}

// quoted warns, once a policy, of a string that is the path of a stub, as a key or in a comparison.
func (a *analysis) quoted() {
	texts := slices.Collect(maps.Values(a.p.Names))
	keys := func(by *policy.KeyOf) {
		for i := 0; by != nil && i < len(by); i++ {
			if by[i].Constant && by[i].Type == stubs.Name {
				texts = append(texts, by[i].Text)
			}
		}
	}
	for _, r := range a.p.Reads {
		keys(r.By)
	}
	for _, s := range a.p.Sites {
		keys(s.By)
	}
	slices.Sort(texts)
	for _, text := range texts {
		if _, is := stubs.Lookup(text); !is {
			continue
		}
		n := &policy.Node{Pos: max(0, strings.Index(a.p.Text, text)-1)}
		n.End = min(n.Pos+len(text)+2, len(a.p.Text))
		a.warn(n, "write it without quotes for the state stub", "%q is a name here, and no state stub", text)
		return
	}
}

// sameSides warns of a choice between two equal sides.
func (a *analysis) sameSides(n *policy.Node) {
	if b, c := a.text(n.B), a.text(n.C); b == c && len(b) < maxQuote-3 && !isLowered(n) && slices.Contains(a.p.Choices, n) && b != "continue()" {
		a.warn(n, "", "both sides of the choice are %s", b)
	}
}

// inverted warns of a take whose success is punished.
func (a *analysis) inverted(n *policy.Node) {
	throws := func(n *policy.Node) bool { return n.Op == policy.OpVerdict && stubs.Decision(n.Imm) == stubs.Throw }
	if n.A.Op == policy.OpTake && throws(n.B) && !throws(n.C) {
		a.warn(n.A, "write not take(...) ? throw(...) : continue()", "%s is true when there are tokens, and then the policy throws", a.text(n.A))
	}
}

// urgency warns of the rank that starts the least urgent task first.
func (a *analysis) urgency(n *policy.Node) {
	if isRank(a.p, n) && n.A.Op == policy.OpRead && a.reads[n.A.Index].Stub == stubs.ArrivingPriority {
		a.warn(n, "write rank(-arriving.priority)", "the lowest rank starts first, and a greater priority is more urgent: %s starts the least urgent task first", a.text(n))
	}
}

// maxRetry is the greatest retry time that a caller is told.
const maxRetry = 24 * time.Hour

// retry warns of a constant retry time that no caller is told.
func (a *analysis) retry(n *policy.Node) {
	if n.A == nil || n.A.Op != policy.OpConst {
		return
	}
	switch d := time.Duration(n.A.Imm); {
	case d <= 0:
		a.warn(n.A, "leave it out", "a retry time of %v tells the caller nothing", d)
	case d > maxRetry:
		a.warn(n.A, "", "the caller is told to come back after %v at most, and this is %v", maxRetry, d)
	}
}

// comparison warns of a comparison of a hash with a small number, and of one that asks whether a
// time is exactly as long as a constant.
func (a *analysis) comparison(n *policy.Node) {
	x, y := n.A, n.B
	if x.Op == policy.OpConst {
		x, y = y, x
	}
	switch {
	case y.Op != policy.OpConst:
	case x.Op == policy.OpMix && int64(y.Imm) < large:
		a.warn(n, "write hash(...) % 100 < 5 for 5 of 100", "hash() is a number of 63 bits, and %d is no share of them", int64(y.Imm))
	case n.Op != policy.OpEq && n.Op != policy.OpNe || x.Op != policy.OpRead || x.Type != stubs.Duration:
	default:
		stub := a.reads[x.Index].Stub
		deadline := stub == stubs.TaskDeadline || stub == stubs.ArrivingDeadline
		if deadline || clocks[stub] && y.Imm != 0 || stub == stubs.RuntimeUptime {
			a.warn(n, "compare with < or >; a task without a deadline has the greatest duration", "%s is hardly ever exactly %v", a.text(x), time.Duration(y.Imm))
		}
	}
}

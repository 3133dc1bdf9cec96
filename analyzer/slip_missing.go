package analyzer

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// distant is a time that no real deadline reaches: a policy that compares with more than that asks
// whether there is one.
const distant = 24 * time.Hour

// undated warns of a throw under load into tasks that have much time, if it also meets all tasks
// that have no deadline. An author who means these, too, writes not (task.deadline <= d).
func (a *analysis) undated() (all []Warning) {
	c := a.contraries(stubs.Throw)
	c.follow(a.p.Root, nil, func(n *ir.Node, conds []condition) {
		for _, part := range a.parts(conds) {
			if !a.groundsOf(part).right[load] {
				continue // the policy may ask for a deadline
			}
			for _, cond := range part {
				if at, read := a.beyondDeadline(cond); at != nil && len(all) == 0 && a.endless(n) {
					all = []Warning{{a.p.Errorf(at, "write "+a.text(at)+" and "+read+` < duration("24h")`+"; or not ("+read+" <= ...) if they are meant, too",
						"%s also holds for tasks without a deadline, and %s meets them: %s is the greatest duration there", a.text(at), a.text(n), read)}}
				}
			}
		}
	})
	return all
}

// beyondDeadline returns a comparison which says that the time left is more than a constant, and
// the stub of that time. One with a short time asks whether the task can still be in time.
func (a *analysis) beyondDeadline(c condition) (at *ir.Node, read string) {
	n := a.named(c.Node)
	if !c.holds || n == nil || n.A == nil || n.B == nil || n.Type != stubs.Bool {
		return nil, ""
	}
	x, y := a.named(n.A), a.named(n.B)
	if x == nil || y == nil {
		return nil, ""
	}
	if x.Op == ir.OpConst {
		x, y = y, x
	}
	for _, id := range []stubs.ID{stubs.TaskDeadline, stubs.ArrivingDeadline} {
		if x.Op == ir.OpRead && a.reads[x.Index].Stub == id && y.Op == ir.OpConst && soon < time.Duration(y.Imm) && time.Duration(y.Imm) < distant && a.slope(n, source{stub: id}) == rising {
			return n, a.reads[x.Index].String()
		}
	}
	return nil, ""
}

// endless reports whether a statement is reached for tasks without a deadline.
func (a *analysis) endless(n *ir.Node) bool {
	b := newAnalysis(a.p, 0)
	for _, r := range b.p.Reads {
		if r.Stub == stubs.TaskDeadline || r.Stub == stubs.ArrivingDeadline {
			b.facts.learn(b.facts.read(r), intValue(r.Type, interval{lo: later, hi: 2 * later}))
		}
	}
	b.statement(b.p.Root)
	return b.reached[n]
}

// unlabelled warns of a throw into tasks with a low number in a label, which also meets all tasks
// that have no number there: these count as 0. An author who means them writes int(label, 0).
func (a *analysis) unlabelled() (all []Warning) {
	c := a.contraries(stubs.Throw)
	c.follow(a.p.Root, nil, func(n *ir.Node, conds []condition) {
		for _, part := range a.parts(conds) {
			for _, cond := range part {
				if at, label := a.lowLabel(cond); at != nil && len(all) == 0 {
					all = []Warning{{a.p.Errorf(at, "write a number for them, as in "+strings.TrimSuffix(label, ")")+", 0)",
						"%s also holds for tasks without a number in the label, which count as 0, and %s meets them", a.text(at), a.text(n))}}
				}
				if at, label := a.ownLimit(cond); at != nil && len(all) == 0 {
					all = []Warning{{a.p.Errorf(at, "write a limit for them, as in "+strings.TrimSuffix(label, ")")+", 1000); or 0 if they are meant",
						"%s is about a limit in a label: tasks without a number there have the limit 0, and %s meets them", a.text(at), a.text(n))}}
				}
			}
		}
	})
	return all
}

// unranked warns of a rank that starts tasks without a number in a label first, as they count as 0.
func (a *analysis) unranked() (all []Warning) {
	a.p.Root.Any(func(n *ir.Node) bool {
		if n.Op != ir.OpEffect || !isRank(a.p, n) || !a.reached[n] {
			return false
		}
		for _, r := range a.p.Reads {
			label := a.withoutDefault(r)
			if label != "" && len(all) == 0 && a.slope(n.A, source{r.Stub, r.Key}) == rising && a.reachedWithout(r, n) {
				all = []Warning{{a.p.Errorf(n, "write a number for them, as in "+strings.TrimSuffix(label, ")")+", 9)",
					"%s starts tasks without a number in the label before most others: they count as 0, and the lowest rank starts first", a.text(n))}}
			}
		}
		return len(all) > 0
	})
	return all
}

// withoutDefault returns the text that reads a label as a number without a default; "" of another
// read, and if the policy asks for the label itself.
func (a *analysis) withoutDefault(r ir.Read) string {
	asks := func(o ir.Read) bool { return o.Stub == r.Stub && o.Key == r.Key && o.Taken == ir.TakenWhole }
	if r.Taken != ir.TakenInt && r.Taken != ir.TakenFloat || r.Stub != stubs.TaskLabels && r.Stub != stubs.ArrivingLabels || slices.ContainsFunc(a.p.Reads, asks) {
		return ""
	}
	if at := a.firstRead(r); at != nil {
		if text := a.p.Text[at.Pos:at.End]; strings.Contains(text, "(") {
			return unlessDefault(text)
		}
	}
	// The position is that of a name, which a let gives to the value.
	path, key := regexp.QuoteMeta(stubs.Catalogue[r.Stub].Path), regexp.QuoteMeta(r.Key)
	written := regexp.MustCompile(`(int|float)\(\s*` + path + `(\.` + key + `|\[["']` + key + `["']\])\s*[,)]`)
	return unlessDefault(written.FindString(a.p.Text))
}

func unlessDefault(text string) string {
	if strings.Contains(text, ",") {
		return ""
	}
	return text
}

// reachedWithout reports whether a statement is reached for tasks without a number in the label.
func (a *analysis) reachedWithout(label ir.Read, n *ir.Node) bool {
	if label.Taken != ir.TakenInt {
		return true
	}
	b := newAnalysis(a.p, 0)
	b.facts.learn(b.facts.read(label), intValue(stubs.Int, interval{}))
	b.statement(b.p.Root)
	return b.reached[n]
}

// firstRead returns the first operation that reads a stub.
func (a *analysis) firstRead(r ir.Read) (at *ir.Node) {
	a.p.Root.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpRead && n.Index == r.Offset && at == nil {
			at = n
		}
		return at != nil
	})
	return at
}

// lowLabel returns a comparison that holds for 0 and not for greater numbers of a label, or for 0 and
// all greater ones, and the text that reads the label without a default.
func (a *analysis) lowLabel(c condition) (at *ir.Node, label string) {
	n := a.named(c.Node)
	if n == nil || !isOrdering(n.Op) {
		return nil, ""
	}
	x, y := a.named(n.A), a.named(n.B)
	if x == nil || y == nil {
		return nil, ""
	}
	if y.Op != ir.OpConst {
		x, y = y, x
	}
	if x.Op != ir.OpRead || y.Op != ir.OpConst {
		return nil, ""
	}
	r := a.reads[x.Index]
	label = a.withoutDefault(r)
	way := a.slopeOf(condition{n, c.holds}, source{stub: r.Stub})
	low := (way == falling || way == rising && c.holds && y.Imm == 0) && ir.Compare(n.Op, n.A.Type, wordOf(n.A, y), wordOf(n.B, y)) == c.holds
	if !low || label == "" {
		return nil, ""
	}
	return n, label
}

// ownLimit returns a comparison that asks whether a value which is never below 0 is beyond a number
// of a label, or beyond that many units, and the text that reads the label without a default.
func (a *analysis) ownLimit(c condition) (at *ir.Node, label string) {
	n := a.named(c.Node)
	if n == nil || !isOrdering(n.Op) {
		return nil, ""
	}
	for _, sides := range [][2]*ir.Node{{n.A, n.B}, {n.B, n.A}} {
		x, limit := a.named(sides[0]), a.labelIn(sides[1])
		if x == nil || limit == nil || x.Op == ir.OpConst || !a.atLeast0(x) {
			continue
		}
		r := a.reads[limit.Index]
		label = a.withoutDefault(r)
		beyond := n.A == sides[0] == (n.Op == ir.OpGt || n.Op == ir.OpGe) == c.holds
		if label != "" && beyond && !a.bounds(limit.Index) {
			return n, label
		}
	}
	return nil, ""
}

// bounds reports whether the policy compares a read with a constant, as an author does who knows
// of the tasks without it.
func (a *analysis) bounds(read int) bool {
	return a.p.Root.Any(func(n *ir.Node) bool {
		if n.A == nil || n.B == nil || n.Type != stubs.Bool {
			return false
		}
		x, y := a.named(n.A), a.named(n.B)
		is := func(x, y *ir.Node) bool {
			return x != nil && y != nil && x.Op == ir.OpRead && x.Index == read && y.Op == ir.OpConst
		}
		return is(x, y) || is(y, x)
	})
}

// labelIn returns the read of a label in a number of units, as in
// duration("1ms") * int(task.labels.most).
func (a *analysis) labelIn(n *ir.Node) *ir.Node {
	n = a.named(n)
	switch {
	case n == nil:
	case n.Op == ir.OpRetype || n.Op == ir.OpFloat || n.Op == ir.OpInt:
		return a.labelIn(n.A)
	case n.Op == ir.OpRead:
		if r := a.reads[n.Index]; r.Taken == ir.TakenInt || r.Taken == ir.TakenFloat {
			return n
		}
	case n.Op == ir.OpMul || n.Op == ir.OpDiv:
		x, y := a.named(n.A), a.named(n.B)
		if x != nil && x.Op == ir.OpConst && n.Op == ir.OpMul {
			x, y = y, x
		}
		if y != nil && y.Op == ir.OpConst {
			return a.labelIn(x)
		}
	}
	return nil
}

// wordOf returns the word of an operand: that of the constant, or 0 for the other operand.
func wordOf(n, constant *ir.Node) uint64 {
	if n == constant || n.Op == ir.OpConst {
		return constant.Imm
	}
	return 0
}

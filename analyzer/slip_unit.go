package analyzer

import (
	"math"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// misplaced warns of a comparison between the clock of the runtime and a time span, of the
// clock subtracted from a time span, and of a sum of a deadline and a cost.
func (a *analysis) misplaced(n *ir.Node) {
	for _, side := range [][2]*ir.Node{{n.A, n.B}, {n.B, n.A}} {
		clock, span := side[0], side[1]
		if a.onlyReads(clock, stubs.RuntimeUptime) && a.isSpanStub(span) {
			a.warn(n, "compare two time spans, or the moments runtime.uptime - span", "%s is the time since the runtime was made, and %s a time span of tasks", a.text(clock), a.text(span))
			return
		}
		if left := a.named(clock); left != nil && left.Op == ir.OpSub && a.isSpanStub(left.A) && a.onlyReads(left.B, stubs.RuntimeUptime) {
			a.warn(n, "remove "+a.text(left.B)+": a time span needs no clock", "%s is a time span of tasks, from which %s subtracts the time since the runtime was made", a.text(left.A), a.text(left))
			return
		}
		if sum := a.named(clock); sum != nil && sum.Op == ir.OpAdd && n.A.Type == stubs.Duration && a.hasDeadline(sum.A) != a.hasDeadline(sum.B) && (a.isCost(sum.A) || a.isCost(sum.B)) {
			a.warn(n, "subtract the cost, or compare the deadline with it", "%s adds the time that the task needs to the time that it has", a.text(sum))
			return
		}
	}
}

// percentage warns of a percentage that is compared with a share, as in loop.utilization * 100 >
// 0.9.
func (a *analysis) percentage(n, x, share *ir.Node) {
	f := math.Float64frombits(share.Imm)
	if v := a.values[x].floats; x.Op == ir.OpMul && (isNumber(x.A, 100) || isNumber(x.B, 100)) && v.lo == 0 && v.hi == 100 && 0 < f && f < 1 {
		a.warn(n, "remove the factor 100", "%s is a percentage of 0 to 100, and %v is less than 1 of that", a.text(x), f)
	}
}

// toItself warns of an add() of the state itself.
func (a *analysis) toItself(n *ir.Node) {
	site := a.p.Sites[n.Index]
	is := func(n *ir.Node) bool {
		r, ok := a.reads[n.Index]
		return n.Op == ir.OpRead && ok && r.Stub == stubs.State && r.Key == site.Name && sameKey(r.By, site.By)
	}
	if x := a.named(n.A); site.Effect == stubs.Add && x != nil && (is(x) || x.Op == ir.OpAdd && (is(x.A) || is(x.B))) {
		a.warn(n, "write what the state grows by, as in add(\""+site.Name+"\", 1)", "%s adds the state to itself", a.text(n))
	}
}

// onlyReads reports whether an expression reads one stub, and nothing else.
func (a *analysis) onlyReads(n *ir.Node, id stubs.ID) bool {
	g := grounds{}
	a.readsIn(n, map[int]bool{}, &g)
	return len(g.reads) > 0 && !g.about(func(r ir.Read) bool { return r.Stub != id })
}

// isSpanStub reports whether an expression reads the times of tasks, and nothing else.
func (a *analysis) isSpanStub(n *ir.Node) bool {
	g := grounds{}
	a.readsIn(n, map[int]bool{}, &g)
	return len(g.reads) > 0 && !g.about(func(r ir.Read) bool { return !isSpan(r) })
}

// isSpan reports whether a read is of a time of tasks.
func isSpan(r ir.Read) bool {
	why, _ := reasonBy(r.Stub)
	return r.Type == stubs.Duration && (why == spent || why == late || r.Stub == stubs.QueueOldest || r.Stub == stubs.QueueWait)
}

func (a *analysis) hasDeadline(n *ir.Node) bool {
	return slices.Contains([]slope{rising, falling}, a.slope(n, source{stub: stubs.ArrivingDeadline}).and(a.slope(n, source{stub: stubs.TaskDeadline})))
}

func (a *analysis) isCost(n *ir.Node) bool {
	return a.reading(n, stubs.ArrivingCost)
}

// reading reports whether an expression is the value of a stub.
func (a *analysis) reading(n *ir.Node, id stubs.ID) bool {
	n = a.named(n)
	return n != nil && n.Op == ir.OpRead && a.reads[n.Index].Stub == id
}

// countedTwice warns of a sum of the cost of the queue and that of the arriving task. A task that
// waits is part of the queue; one that has a slot mostly finds no queue.
func (a *analysis) countedTwice(n *ir.Node) {
	for _, side := range [][2]*ir.Node{{n.A, n.B}, {n.B, n.A}} {
		if n.Op == ir.OpAdd && a.reading(side[0], stubs.QueueCost) && a.isCost(side[1]) {
			a.warn(n, "write max(queue.cost, arriving.cost)",
				"%s counts the arriving task twice: while it waits, queue.cost includes it", a.text(n))
			return
		}
	}
}

package analyzer

import (
	"fmt"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// checkDivisor refuses a division whose divisor can be zero here. It also refuses such a division
// of floats: the result would be an infinity or NaN, and comparisons with it would mean nothing.
func (a *analysis) checkDivisor(n *ir.Node, divisor value) {
	if n.Op != ir.OpDiv && n.Op != ir.OpMod || !divisor.hasZero() {
		return
	}
	text := a.text(n.B)
	if divisor.equalsZero() {
		a.refuse(n, "", "division by zero: %s is always 0 here", text)
		return
	}
	a.refuse(n, fmt.Sprintf("guard it: %s != %s ? ... : ...", text, zero(n.B)), "division by zero: %s may be 0 here", text)
}

// zero returns the text of zero in n's type, without the conversions that the language adds.
func zero(n *ir.Node) string {
	for n.Op == ir.OpFloat || n.Op == ir.OpRetype {
		n = n.A
	}
	switch n.Type {
	case stubs.Duration:
		return `duration("0s")`
	case stubs.Bytes:
		return `bytes("0B")`
	}
	return "0"
}

func (v value) equalsZero() bool {
	return v.of == stubs.Float && v.floats.single() || v.of.Integral() && v.ints.single()
}

// checkPossible refuses an operation that fails for all possible values of its operands.
func (a *analysis) checkPossible(n *ir.Node, operand value) {
	if n.Op == ir.OpInt {
		a.refuse(n, "", "%s never fits an integer: it is %s", a.text(n.A), a.describe(operand))
		return
	}
	a.refuse(n, "", "%s always overflows: its result is beyond 64 bits", a.text(n))
}

// checkInterval refuses an interval() always out of bounds.
func (a *analysis) checkInterval(n *ir.Node, v value) {
	if a.p.Sites[n.Index].Effect != stubs.Interval {
		return
	}
	allowed := interval{lo: int64(lang.MinInterval), hi: int64(lang.MaxInterval)}
	if v.ints.meet(allowed).empty() {
		a.refuse(n.A, "", "an interval is %v to %v; this is %s", lang.MinInterval, lang.MaxInterval, a.describe(v))
	}
}

// clocks are the stubs that grow with time from a start that concerns the task or its queue. A
// policy with an interval sees them only once an interval. The runtime's own clocks, such as
// runtime.uptime, are not among them: see ofTimeAlone.
var clocks = map[stubs.ID]bool{
	stubs.TaskSectionRunning: true, stubs.TaskSections: true, stubs.TaskRunning: true, stubs.TaskElapsed: true,
	stubs.TaskWaited: true, stubs.TaskBlocked: true, stubs.TaskDeadline: true, stubs.TaskSlice: true, stubs.QueueOldest: true,
}

// spans reports whether two nodes have the same place in the text.
func spans(n, m *ir.Node) bool { return n.Pos == m.Pos && n.End == m.End }

// checkResolution records a comparison of a clock with a duration below the policy's interval.
// Verify warns about it, unless the policy is evaluated at its horizon.
func (a *analysis) checkResolution(n *ir.Node, x, y term) {
	switch n.Op {
	case ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe:
	default:
		return
	}
	if a.facts.shapes[x].op == ir.OpConst {
		x, y = y, x
	}
	clock, constant := a.facts.shapes[x], a.facts.shapes[y]
	if clock.op != ir.OpRead || clock.of != stubs.Duration || constant.op != ir.OpConst {
		return
	}
	d := time.Duration(constant.imm)
	switch r := a.reads[int(clock.imm)]; {
	case !clocks[r.Stub] || d <= 0:
	case d < lang.MinInterval && (spans(n.A, n) || spans(n.B, n)): // max(), min()
	case d < lang.MinInterval:
		a.warn(n, fmt.Sprintf("write at least %v; or > duration(\"0s\")", lang.MinInterval),
			"%v is less than the runtime can tell apart, which is %v", d, lang.MinInterval)
	case a.p.On != stubs.Tick: // an earlier event may have changed the interval
	case d < a.interval:
		a.late = append(a.late, Warning{a.p.Errorf(n, "use at least the interval, or evaluate the policy more often",
			"the policy is evaluated every %v: it notices %v up to %v late", a.interval, d, a.interval)})
	}
}

// ofTimeAlone reports whether the policy reads only clocks and what is fixed for a task. Such a
// policy needs no evaluation after its horizon, because nothing else changes.
func (a *analysis) ofTimeAlone() bool {
	constant := []stubs.ID{stubs.TaskName, stubs.TaskKind, stubs.TaskPriority, stubs.TaskLabels, stubs.LoopName, stubs.LoopSlots, stubs.TenantName, stubs.RuntimeUptime}
	return !slices.ContainsFunc(a.p.Reads, func(r ir.Read) bool { return !clocks[r.Stub] && !slices.Contains(constant, r.Stub) })
}

// samples reports whether the policy looks at the load now and then to move its states by steps, as
// a controller does: its interval is the length of a step, and it need not notice each long wait.
func (a *analysis) samples() bool {
	steps := func(n *ir.Node) bool {
		if n.Op != ir.OpEffect || !a.p.Sites[n.Index].Effect.Writes() {
			return false
		}
		site := a.p.Sites[n.Index]
		return site.Effect == stubs.Add || n.A.Any(func(n *ir.Node) bool {
			return n.Op == ir.OpRead && a.reads[n.Index].OfState() && a.reads[n.Index].Key == site.Name
		})
	}
	others := func(n *ir.Node) bool {
		return n.Op == ir.OpVerdict && stubs.Decision(n.Imm) != stubs.Continue || n.Op == ir.OpEffect && !a.p.Sites[n.Index].Effect.Writes()
	}
	return a.p.ForEach() == 0 && a.p.Root.Any(steps) && !a.p.Root.Any(others)
}

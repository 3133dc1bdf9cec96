package analyzer

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// Way is a necessary condition for a policy to throw, to switch, or to have an effect. The policy
// can only continue unless, for one of its ways, all clocks have reached their bounds and all fixed
// values are allowed. A Way without clocks and fixed values is always open.
type Way struct {
	Clocks []Clock
	Fixed  []Fixed
}

// Clock is a state stub that moves with time, by no more than a nanosecond each nanosecond, and
// that can leap only away from its bound. The policy's way is shut while a rising clock is below
// Bound, and while task.deadline, which falls, is above it. Bound is in ns.
//
// One clock leaps towards its bound: when a section ends, task.section_running becomes the running
// time of the enclosing section. It is never more than the running time in the outermost section.
type Clock struct {
	Read  ir.Read
	Bound int64
}

// Falls reports whether the clock falls: it is task.deadline.
func (c Clock) Falls() bool { return c.Read.Stub == stubs.TaskDeadline }

// Fixed is a state stub with a constant value for the life of its task, with the values for which
// the way is open.
type Fixed struct {
	Read   ir.Read
	values value
}

// Allows reports whether the way is open when the stub has the given word. It allocates nothing and
// needs little stack, because the runtime calls it for each arriving task.
func (f *Fixed) Allows(word uint64) bool { return f.values.has(word) }

// Names returns the names for which the way is open; ok is false when these are all names except a
// few.
func (f Fixed) Names() (ids []stubs.NameID, ok bool) {
	return f.values.names.ids, f.Read.Type == stubs.Name && !f.values.names.except
}

// rises reports whether the stub is a rising clock.
func rises(id stubs.ID) bool {
	return id == stubs.RuntimeUptime || clocks[id] && id != stubs.TaskDeadline
}

// fixed reports whether the stub is constant for the life of the task that it is about.
func fixed(id stubs.ID) bool {
	switch id {
	case stubs.TaskName, stubs.TaskKind, stubs.TaskPriority, stubs.TaskLabels, stubs.LoopName, stubs.LoopSlots,
		stubs.ArrivingName, stubs.ArrivingKind, stubs.ArrivingPriority, stubs.ArrivingLabels:
		return true
	}
	return false
}

// atAnyTime returns the ways of an unknown policy: one way, always open.
func atAnyTime() []Way { return []Way{{}} }

// keepsTime reports whether the policy is evaluated at the exact time when it can first act, not
// only at the next tick: it has no effects, and can act only after some time.
func (v Verified) keepsTime() bool {
	return len(v.program.Sites) == 0 && !slices.ContainsFunc(v.Ways(), func(w Way) bool { return len(w.Clocks) == 0 })
}

// maxWays is the greatest number of ways of a policy. A policy with more is assumed to act at any
// time.
const maxWays = 32

// Ways returns the ways in which the policy can do anything except continue, as far as time and the
// fixed values of a task decide. It may return impossible ways, and never leaves one out. All other
// values that the policy reads may be anything.
//
// An evaluation with an error does nothing, so a path that can only fail is not a way. The zero
// Verified may act at any time. Ways follows the program once more, for as long as Verify takes or,
// if it must search for the bound of a clock, some hundred times as long.
func (v Verified) Ways() []Way {
	p := v.program
	if p == nil {
		return atAnyTime()
	}
	w := &ways{a: newAnalysis(p, 0), bound: make([]*ir.Node, len(p.Locals))}
	w.a.taking = w.act
	w.splits = min(maxSplits, 1+maxWork/count(p.Root))
	w.statement(p.Root)
	if len(w.found) > maxWays {
		return atAnyTime()
	}
	if slices.ContainsFunc(w.found, func(w Way) bool { return len(w.Clocks) == 0 }) && count(p.Root) <= maxSearched {
		w.search()
	}
	return w.found
}

// Bounds of the work, in splits of a condition into its cases.
const (
	maxSplits   = 256
	maxWork     = 1 << 15 // splits times operations of the program
	maxSearched = 128     // operations of a program for which search looks for bounds
)

// count returns the number of operations.
func count(n *ir.Node) int {
	if n == nil {
		return 0
	}
	return 1 + count(n.A) + count(n.B) + count(n.C)
}

// ways follows a program once more, and records the conditions under which it acts. The analysis
// keeps only the facts that all cases of a condition share; ways follows each case of "or"
// separately, because each may have a different name and a different time.
type ways struct {
	a      *analysis
	bound  []*ir.Node // by local of type bool: its value, if its cases can be followed
	splits int        // how many more conditions may be split
	found  []Way
}

// statement follows a node of type Unit or Verdict.
func (w *ways) statement(n *ir.Node) {
	if w.a.facts.dead {
		return
	}
	switch n.Op {
	case ir.OpVerdict:
		if n.A != nil {
			w.a.eval(n.A)
		}
		if stubs.Decision(n.Imm) != stubs.Continue {
			w.act()
		}
	case ir.OpEffect:
		if n.A != nil {
			w.a.eval(n.A)
		}
		w.act()
	case ir.OpSeq:
		w.statement(n.A)
		w.statement(n.B)
	case ir.OpLet:
		w.a.locals[n.Index], _ = w.a.eval(n.A)
		w.bound[n.Index] = nil
		if n.A.Type == stubs.Bool && !binds(n.A) {
			w.bound[n.Index] = n.A
		}
		w.statement(n.B)
	case ir.OpIf:
		w.when(n.A, true, func() { w.statement(n.B) })
		w.when(n.A, false, func() { w.statement(n.C) })
	}
}

// binds reports whether the expression binds a local. Following it again could rebind a local in
// use.
func binds(n *ir.Node) bool {
	return n != nil && (n.Op == ir.OpLet || quantifier(n.Op) || binds(n.A) || binds(n.B) || binds(n.C))
}

// when calls then for each case in which the condition is b.
func (w *ways) when(n *ir.Node, b bool, then func()) {
	if w.a.facts.dead {
		return
	}
	switch split := w.splits > 0; {
	case n.Op == ir.OpNot:
		w.when(n.A, !b, then)
		return
	case split && n.Op == ir.OpLocal && w.bound[n.Index] != nil:
		w.splits-- // because a local made of locals doubles the work
		w.when(w.bound[n.Index], b, then)
		return
	case split && (n.Op == ir.OpAnd || n.Op == ir.OpOr):
		w.junctionWhen(n, b, then)
		return
	case split && n.Op == ir.OpIf:
		w.splits--
		w.when(n.A, true, func() { w.when(n.B, b, then) })
		w.when(n.A, false, func() { w.when(n.C, b, then) })
		return
	}
	cond, v := w.a.eval(n)
	if b && v.truth.yes || !b && v.truth.no {
		w.a.facts.assume(cond, b, then)
	}
}

// junctionWhen is when for "and" and "or": either the first operand decides, or the second does.
func (w *ways) junctionWhen(n *ir.Node, b bool, then func()) {
	both := n.Op == ir.OpAnd
	if b != both {
		w.splits--
		w.when(n.A, b, then)
	}
	w.when(n.A, both, func() { w.when(n.B, b, then) })
}

// act records the facts at a point where the policy acts.
func (w *ways) act() {
	if w.a.facts.dead {
		return
	}
	var way Way
	for _, r := range w.a.p.Reads {
		v := w.a.facts.known[w.a.facts.read(r)]
		switch {
		case rises(r.Stub) && v.ints.lo > 0:
			way.Clocks = append(way.Clocks, Clock{r, v.ints.lo})
		case r.Stub == stubs.TaskDeadline && v.ints.hi < unlimited:
			way.Clocks = append(way.Clocks, Clock{r, v.ints.hi})
		case fixed(r.Stub) && !v.same(readValue(r)):
			way.Fixed = append(way.Fixed, Fixed{r, v})
		}
	}
	w.add(way)
}

// add adds a way, unless another way covers it, and drops the covered ones.
func (w *ways) add(way Way) {
	if slices.ContainsFunc(w.found, func(known Way) bool { return known.covers(way) }) {
		return
	}
	w.found = append(slices.DeleteFunc(w.found, way.covers), way)
}

// covers reports whether w is open whenever x is.
func (w Way) covers(x Way) bool {
	for _, c := range w.Clocks {
		if !slices.ContainsFunc(x.Clocks, func(d Clock) bool {
			return d.Read.Offset == c.Read.Offset && (d.Bound == c.Bound || d.Bound > c.Bound != c.Falls())
		}) {
			return false
		}
	}
	for _, f := range w.Fixed {
		if !slices.ContainsFunc(x.Fixed, func(g Fixed) bool {
			return g.Read.Offset == f.Read.Offset && g.values.meet(f.values).same(g.values)
		}) {
			return false
		}
	}
	return true
}

package analyzer

import (
	"math"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// Warning is a remark about a verified program: the place, the reason and a hint. It prints like an
// error: %v is one line, %+v marks the place.
type Warning struct{ *ir.Error }

func (a *analysis) warn(n *ir.Node, hint, format string, args ...any) {
	a.warnings = append(a.warnings, Warning{a.p.Errorf(n, hint, format, args...)})
}

// review collects constant conditions and unreachable statements after the analysis.
func (a *analysis) review() {
	r := review{a: a, constant: make([]bool, len(a.p.Locals)), many: a.p.ForEach()}
	a.dropped()
	r.statement(a.p.Root)
	switch {
	case r.acts == 0:
		a.warn(a.p.Root, "", "the policy does nothing: it has no throw, switch or effect")
	case len(r.unreached) == r.acts && !a.lenient && !a.p.Root.Any(a.share):
		a.refuse(r.unreached[0], "", "the policy can only continue: %s is never reached%s", a.text(r.unreached[0]), r.why())
	default:
		for _, n := range r.unreached {
			a.warn(n, "", "%s is never reached", a.text(n))
		}
	}
	if places := a.p.Repeats; len(places) > 0 { // one is enough
		n := &ir.Node{Pos: places[0][0], End: places[0][1]}
		a.warn(n, "remove it", "the list has %s already", a.text(n))
	}
	a.lost(a.p.Root)
	a.slips()
	a.idleSwitches()
	a.arrivals()
	slices.SortStableFunc(a.warnings, func(v, w Warning) int { return v.Pos - w.Pos })
}

// share reports whether n is chance(0) or chance(1). An author sets such a share to turn a rule off
// or on, so a policy that can only continue may be intended.
func (a *analysis) share(n *ir.Node) bool {
	if n.Op != ir.OpLt || n.A.Op != ir.OpRead || a.reads[n.A.Index].Stub != stubs.Draw || n.B.Op != ir.OpConst {
		return false
	}
	p := math.Float64frombits(n.B.Imm)
	return p == 0 || p == 1
}

// review walks the tree a second time, for warnings.
type review struct {
	a         *analysis
	many      stubs.Event // events that evaluate the policy for each of several tasks
	rest      *ir.Node    // the verdict, or the choice of one, after the current effects
	constant  []bool      // by local: its definition is constant, and has a warning
	acts      int         // throws, switches and effects
	unreached []*ir.Node
}

// why quotes the first constant condition.
func (r *review) why() string {
	if len(r.a.warnings) == 0 {
		return ""
	}
	return ", because " + r.a.warnings[0].Reason
}

func (r *review) statement(n *ir.Node) {
	switch n.Op {
	case ir.OpVerdict:
		if stubs.Decision(n.Imm) != stubs.Continue {
			r.act(n)
		}
		r.expression(n.A, n)
	case ir.OpEffect:
		r.act(n)
		r.repeated(n)
		r.vain(n)
		r.expression(n.A, n)
	case ir.OpSeq:
		if n.Type == stubs.Verdict {
			r.rest = n.B
		}
		r.statement(n.A)
		r.statement(n.B)
	case ir.OpLet:
		r.behind(n)
		r.let(n)
		r.statement(n.B)
	case ir.OpIf:
		r.behind(n)
		r.expression(n.A, n)
		r.statement(n.B)
		r.statement(n.C)
	}
}

// behind records that the statement n follows the value of n.
func (r *review) behind(n *ir.Node) {
	if n.Type == stubs.Verdict {
		r.rest = n
	}
}

func (r *review) act(n *ir.Node) {
	r.acts++
	if !r.a.reached[n] {
		r.unreached = append(r.unreached, n)
	}
}

// repeated warns, once a policy, of an effect that one notification may carry out several times
// although its author probably expects one: for example, a token taken for each running task
// instead of for the arriving one. An effect on a path with a throw or a switch is assumed to be
// for each task.
func (r *review) repeated(n *ir.Node) {
	decided := !r.rest.Any(func(m *ir.Node) bool {
		return m.Op == ir.OpVerdict && stubs.Decision(m.Imm) == stubs.Continue && r.a.reached[m]
	})
	if r.many == 0 || !r.a.reached[n] || r.idempotent(n) {
		return
	}
	if decided {
		r.untilSafePoint(n)
		return
	}
	r.a.warn(n, "put it into a policy of its own, which neither reads task.* nor switches",
		"%s may be carried out several times on one %s: the policy is evaluated for each running task, because %s", r.a.text(n), r.many, r.becauseOfTasks())
	r.many = 0
}

// untilSafePoint warns of a count of throws on ticks: until the task comes to its next safe point,
// each tick throws again, and counts again.
func (r *review) untilSafePoint(n *ir.Node) {
	counts := r.a.p.Sites[n.Index].Effect == stubs.Add || r.a.p.Sites[n.Index].Effect == stubs.Take || n.Op == ir.OpEffect && countsBy(r.a.p, n) != 0
	thrown := r.rest.Any(func(m *ir.Node) bool { return throws(m) && r.a.reached[m] })
	if counts && thrown && r.a.p.On&stubs.Tick != 0 {
		r.a.warn(n, "count on exit, by what the task has done; or set() a value, which is the same each time",
			"%s counts a task more than once: each tick throws again until the task passes its next safe point", r.a.text(n))
		r.many = 0
	}
}

// idempotent reports whether repeating the effect makes no difference: it is about the policy or
// the arriving task, or writes the only value that the policy gives the state.
func (r *review) idempotent(n *ir.Node) bool {
	site := r.a.p.Sites[n.Index]
	switch site.Effect {
	case stubs.Set:
		return n.A.Op == ir.OpConst && !r.a.p.Root.Any(func(m *ir.Node) bool {
			other := m.Op == ir.OpEffect && r.a.p.Sites[m.Index].Name == site.Name
			return other && (r.a.p.Sites[m.Index].Effect != stubs.Set || m.A.Op != ir.OpConst || m.A.Imm != n.A.Imm)
		})
	case stubs.Call, stubs.Add, stubs.Take:
		return false
	}
	return true
}

// becauseOfTasks says why the policy is about running tasks.
func (r *review) becauseOfTasks() string {
	for _, read := range r.a.p.Reads {
		tenant := stubs.TenantName <= read.Stub && read.Stub <= stubs.ClassService // or the class
		if read.Stub <= stubs.TaskSlice || tenant && r.many&^stubs.Enqueue != 0 {
			return "it reads " + stubs.Catalogue[read.Stub].Path
		}
	}
	switch {
	case r.a.p.MaySwitch():
		return "it may switch"
	case r.a.p.Demotes():
		return "it calls background()"
	}
	return "it may throw"
}

func (r *review) let(n *ir.Node) {
	r.constant[n.Index] = r.expression(n.A, n)
}

// expression warns about the smallest constant conditions in n, and reports whether there are any.
// One operator of the text may be lowered to several operations at one place: only the outermost is
// in the author's text.
func (r *review) expression(n, parent *ir.Node) (told bool) {
	if n == nil {
		return false
	}
	if n.Op == ir.OpTake {
		r.act(n)
		r.repeated(n)
		r.vain(n)
	}
	if n.Op == ir.OpLet {
		r.let(n)
		told = r.constant[n.Index]
	} else {
		told = r.expression(n.A, n)
	}
	told = r.expression(n.B, n) || told
	told = r.expression(n.C, n) || told
	if n.Op == ir.OpLocal {
		told = r.constant[n.Index]
	}
	r.beyond(n)
	r.quotient(n)
	part := parent.Type == stubs.Bool && parent.Pos == n.Pos && parent.End == n.End
	v, reached := r.a.values[n]
	if told || part || !reached || n.Type != stubs.Bool || !v.truth.constant() || r.literal(n, parent) {
		return told
	}
	if isLowered(parent) && parent.A == n {
		r.a.warn(parent, r.a.hint(n), "%s chooses nothing: one of its values is always the result", r.a.text(parent))
		return true
	}
	r.a.alwaysTrue[n.Pos] = v.truth.yes
	r.a.warn(n, r.a.hint(n), "%s is always %v%s", r.condition(n), v.truth.yes, r.because(n))
	return true
}

// literal reports whether n is a constant that its author means: true or false, which turn a rule on
// or off, or the value of a state. Another constant has been folded from a comparison.
func (r *review) literal(n, parent *ir.Node) bool {
	text := strings.TrimSpace(strings.Trim(r.a.p.Text[n.Pos:n.End], "()!"))
	return n.Op == ir.OpConst && (parent.Op == ir.OpEffect || isLowered(parent) ||
		slices.Contains([]string{"true", "false"}, strings.TrimPrefix(text, "not ")))
}

// lowered returns the conditions of the choices that isLowered is about.
func lowered(root *ir.Node) map[*ir.Node]bool {
	all := map[*ir.Node]bool{}
	root.Any(func(n *ir.Node) bool {
		if isLowered(n) {
			all[n.A] = true
		}
		return false
	})
	return all
}

// isLowered reports whether n is a choice that the author has written as max, min, clamp or abs: it
// has the place of its condition.
func isLowered(n *ir.Node) bool {
	return n.Op == ir.OpIf && spans(n, n.A)
}

package analyzer

import (
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// analysis follows every path of a well-formed program once, in the order of evaluation, with the
// facts of the path. Types that use an analysis have it as a field and do not embed it: the compiler
// would write its 200 methods twice for each of them, and take nearly twice as long.
type analysis struct {
	p          *ir.Program
	interval   time.Duration
	facts      *facts
	reads      map[int]ir.Read         // by offset
	locals     []term                  // by local: the term of its value
	values     map[*ir.Node]value      // of reached expressions: every possible value
	reached    map[*ir.Node]bool       // verdicts and effects, including takes
	taking     func()                  // if not nil, called where tokens may be taken
	firing     func(*ir.Node)          // if not nil, called at each reached effect
	letsOf     map[int]*ir.Node        // see lets
	slopes     map[localSource]slope   // of locals
	matched    map[stubs.NameID]string // the names of a match that the program lacks
	declared   policy.Match            // of the policy
	machine    int                     // the number of processors, or 0
	base       int                     // of the program's sets among the sets of facts
	noSections bool                    // the list of open sections is empty
	match      *policy.Match           // of which there are facts; or nil
	kinds      nameSet                 // of the tasks to which verdicts apply
	kind       *ir.Read                // of task.kind; or nil
	idle       []idleSwitch            // reached
	partsLeft  int                     // conditions that partsOf may still look at
	alwaysTrue map[int]bool            // the places of conditions with a warning that they are
	// a policy that can only continue gets a warning, not an error
	lenient  bool
	err      error // the first
	warnings []Warning
	late     []Warning // added after the walk
}

func newAnalysis(p *ir.Program, interval time.Duration) *analysis {
	a := &analysis{
		p: p, interval: interval, facts: newFacts(p.Sets), reads: map[int]ir.Read{}, locals: make([]term, len(p.Locals)),
		values: map[*ir.Node]value{}, reached: map[*ir.Node]bool{}, kinds: anyName,
		alwaysTrue: map[int]bool{}, slopes: map[localSource]slope{},
	}
	for _, r := range p.Reads {
		a.reads[r.Offset] = r
		if r.Stub == stubs.TaskKind {
			a.kind = &r
		}
	}
	return a
}

// refuse records an error about n, unless there is an earlier one.
func (a *analysis) refuse(n *ir.Node, hint, format string, args ...any) {
	if a.err == nil {
		a.err = a.p.Errorf(n, hint, format, args...)
	}
}

// statement follows a node of type Unit or Verdict.
func (a *analysis) statement(n *ir.Node) {
	if a.facts.dead {
		return
	}
	switch n.Op {
	case ir.OpVerdict:
		if n.A != nil {
			a.eval(n.A)
		}
		a.reached[n] = !a.facts.dead
		a.checkSwitch(n)
		a.checkRetry(n)
	case ir.OpEffect:
		if n.A != nil {
			_, v := a.eval(n.A)
			a.checkInterval(n, v)
		}
		a.reached[n] = !a.facts.dead
		if a.firing != nil {
			a.firing(n)
		}
	case ir.OpSeq:
		a.statement(n.A)
		a.statement(n.B)
	case ir.OpLet:
		a.locals[n.Index], _ = a.eval(n.A)
		a.statement(n.B)
	case ir.OpIf:
		cond, v := a.eval(n.A)
		if v.truth.yes {
			a.facts.assume(cond, true, func() { a.statement(n.B) })
		}
		if v.truth.no {
			a.facts.assume(cond, false, func() { a.statement(n.C) })
		}
	}
}

// eval follows an expression, and returns its term and values.
func (a *analysis) eval(n *ir.Node) (term, value) {
	t, v := a.compute(n)
	a.facts.learn(t, v)
	if now := a.facts.known[t]; !now.empty() {
		v = now
	}
	if n.Type == stubs.Bool {
		v = a.probe(n, t, v)
	}
	a.values[n] = v
	return t, v
}

func (a *analysis) compute(n *ir.Node) (term, value) {
	switch n.Op {
	case ir.OpConst:
		t := a.facts.constant(n.Type, n.Imm)
		return t, a.facts.known[t]
	case ir.OpRead:
		t := a.facts.read(a.reads[n.Index])
		return t, a.facts.known[t]
	case ir.OpLocal:
		t := a.locals[n.Index]
		return t, a.facts.value(t, reach)
	case ir.OpLet:
		a.locals[n.Index], _ = a.eval(n.A)
		return a.eval(n.B)
	case ir.OpIn:
		x, v := a.eval(n.A)
		return a.facts.in(x, a.base+n.Index), boolValue(withinSet(v, a.p.Sets[n.Index]))
	case ir.OpAnd:
		return a.junction(n, true)
	case ir.OpOr:
		return a.junction(n, false)
	case ir.OpIf:
		return a.choice(n)
	case ir.OpAny, ir.OpAll, ir.OpNone, ir.OpCount:
		return a.quantifier(n)
	case ir.OpTake:
		return a.take(n)
	}
	return a.operation(n)
}

// junction follows "and" and "or": the second operand is evaluated only when the first is b.
func (a *analysis) junction(n *ir.Node, b bool) (term, value) {
	x, vx := a.eval(n.A)
	if vx.only(!b) {
		return x, vx
	}
	y, vy := none, value{}
	a.facts.assume(x, b, func() { y, vy = a.eval(n.B) })
	v, _ := apply(n.Op, n.Type, vx, vy)
	return a.facts.operation(n.Op, n.Type, x, y), v
}

func (a *analysis) choice(n *ir.Node) (term, value) {
	cond, v := a.eval(n.A)
	branch := func(n *ir.Node, b bool) (t term, v value) {
		a.facts.assume(cond, b, func() { t, v = a.eval(n) })
		return t, v
	}
	switch {
	case !v.truth.no:
		return branch(n.B, true)
	case !v.truth.yes:
		return branch(n.C, false)
	}
	x, vx := branch(n.B, true)
	y, vy := branch(n.C, false)
	return a.facts.choice(n.Type, cond, x, y), vx.join(vy)
}

// quantifier follows a predicate once, for all elements.
func (a *analysis) quantifier(n *ir.Node) (term, value) {
	length, element := interval{lo: 0, hi: int64(n.Source.Bound())}, nameValue(anyName)
	if !n.Source.List {
		length.lo, element = length.hi, intValue(stubs.Int, interval{lo: n.Source.Lo, hi: n.Source.Hi})
	} else if a.noSections {
		length.hi = 0
	}
	holds := truth{}
	if length.hi > 0 {
		a.locals[n.Index] = a.facts.unique(element)
		m := a.facts.mark()
		_, v := a.eval(n.B)
		a.facts.undo(m)
		holds = v.truth
	}
	v := quantified(n.Op, length, holds)
	return a.facts.unique(v), v
}

// quantified returns the possible values of a quantifier over length elements; holds has the
// predicate's possible values.
func quantified(op ir.Op, length interval, holds truth) value {
	some := truth{yes: holds.yes, no: length.lo == 0 || holds.no} // any
	every := truth{yes: length.lo == 0 || holds.yes, no: holds.no}
	switch op {
	case ir.OpAny:
		return boolValue(some)
	case ir.OpNone:
		return boolValue(some.not())
	case ir.OpAll:
		return boolValue(every)
	}
	if !holds.yes {
		length.hi = 0
	}
	if holds.no || !holds.yes {
		length.lo = 0
	}
	return intValue(stubs.Int, length)
}

// operation follows an operation that evaluates all its operands.
func (a *analysis) operation(n *ir.Node) (term, value) {
	x, vx := a.eval(n.A)
	y, vy := none, vx
	if n.B != nil {
		y, vy = a.eval(n.B)
	}
	a.checkDivisor(n, vy)
	v, never := apply(n.Op, n.Type, vx, vy)
	if never {
		a.checkPossible(n, vx)
	}
	if x == y && n.Type == stubs.Bool && !(vx.of == stubs.Float && vx.floats.nan) {
		// x is compared with itself
		v = known(n.Op == ir.OpEq || n.Op == ir.OpLe || n.Op == ir.OpGe)
	}
	a.checkResolution(n, x, y)
	return a.facts.operation(n.Op, n.Type, x, y), v
}

// probe finds that a condition is always true or always false, because its opposite contradicts the
// facts. It tries only elementary conditions.
func (a *analysis) probe(n *ir.Node, t term, v value) value {
	if v.truth.constant() || n.Op != ir.OpLocal && (n.B == nil || n.A == nil || n.A.Type == stubs.Bool || n.Op == ir.OpLet) {
		return v
	}
	refined := truth{a.facts.possible(t, true), a.facts.possible(t, false)}
	if refined == (truth{}) {
		return v
	}
	return boolValue(refined)
}

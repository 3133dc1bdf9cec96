package analyzer

import "github.com/cocoon-go/cocoon/internal/ir"

// facts holds the possible values of each term on the current path of the analysis. Facts are only
// ever added, and undone together at the end of a branch, so facts uses one array and an undo log
// instead of a copy for each branch.
type facts struct {
	shapes []shape // by term
	known  []value // by term
	index  map[shape]term
	trail  []change
	dead   bool // the facts contradict each other: nothing executes here
	sets   []ir.Set
	ties   map[term]*tie // of reads; only for warnings, as related
	fuel   int           // the remaining work of refinement; at 0 the analysis proves less

	related map[term][]related
}

// change is an entry of the undo log: a replaced fact.
type change struct {
	term term
	was  value
}

// maxFuel limits the work of refinement, about a microsecond each, because nested conditions can
// make it exponential. Real policies need some hundreds.
const maxFuel = 1 << 16

func newFacts(sets []ir.Set) *facts {
	return &facts{index: map[shape]term{}, sets: sets, fuel: maxFuel}
}

// mark is a position in the undo log.
type mark struct {
	trail int
	dead  bool
}

func (f *facts) mark() mark { return mark{len(f.trail), f.dead} }

// undo removes the facts added since m.
func (f *facts) undo(m mark) {
	for i := len(f.trail) - 1; i >= m.trail; i-- {
		f.known[f.trail[i].term] = f.trail[i].was
	}
	f.trail, f.dead = f.trail[:m.trail], m.dead
}

// assume runs body with the fact that the condition t is b, and then removes the fact.
func (f *facts) assume(t term, b bool, body func()) {
	m := f.mark()
	f.refine(t, b)
	body()
	f.undo(m)
}

// possible reports whether the condition t can be b.
func (f *facts) possible(t term, b bool) (yes bool) {
	f.assume(t, b, func() { yes = !f.dead })
	return yes
}

// learn adds the fact that t has one of the values v, and reports whether the fact is new.
func (f *facts) learn(t term, v value) bool {
	was := f.known[t]
	now := was.meet(v)
	if now.same(was) {
		return false
	}
	f.trail = append(f.trail, change{t, was})
	f.known[t] = now
	f.dead = f.dead || now.empty()
	f.pull(t)
	f.follow(t)
	return true
}

// either adds the facts that hold whichever of two alternative steps is taken.
func (f *facts) either(one, other func()) {
	m := f.mark()
	one()
	first, firstDead := f.since(m), f.dead
	f.undo(m)
	other()
	if firstDead {
		return
	}
	second, secondDead := f.since(m), f.dead
	f.undo(m)
	for t, v := range first {
		if secondDead {
			f.learn(t, v)
		} else if w, ok := second[t]; ok {
			f.learn(t, v.join(w))
		}
	}
}

// since returns the facts added since m.
func (f *facts) since(m mark) map[term]value {
	news := map[term]value{}
	for _, c := range f.trail[m.trail:] {
		news[c.term] = f.known[c.term]
	}
	return news
}

// reach is the depth to which value examines a term.
const reach = 3

// value returns the values of t, from the facts about it and about its subterms.
func (f *facts) value(t term, reach int) value {
	s, known := f.shapes[t], f.known[t]
	if reach == 0 || s.a == none {
		return known
	}
	f.fuel--
	var computed value
	if s.op == ir.OpIn {
		computed = boolValue(withinSet(f.value(s.a, reach-1), f.sets[s.imm]))
	} else if s.op == ir.OpIf {
		computed = f.value(s.b, reach-1).join(f.value(s.c, reach-1))
	} else {
		a := f.value(s.a, reach-1)
		b := a
		if s.b != none {
			b = f.value(s.b, reach-1)
		}
		computed, _ = apply(s.op, s.of, a, b)
	}
	if both := known.meet(computed); !both.empty() {
		return both
	}
	return known
}

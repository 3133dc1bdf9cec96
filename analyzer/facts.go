package analyzer

import "github.com/cocoon-go/cocoon/policy"

// facts is what is known on the path that the analysis is on: for each term the values it can have,
// if it has one. Facts are only ever added, and taken back in one piece at the end of a branch, so
// they are one array and a trail of what was there before instead of a copy a branch.
type facts struct {
	shapes []shape // by term
	known  []value // by term
	index  map[shape]term
	trail  []change
	dead   bool // the facts contradict each other: nothing executes here
	sets   []policy.Set
	fuel   int // what refinement may still cost; without it, it proves less
}

// change is a fact that was replaced.
type change struct {
	term term
	was  value
}

// maxFuel bounds the work of refinement, about a microsecond each, because nested conditions can
// make it exponential. Real policies need some hundreds.
const maxFuel = 1 << 16

func newFacts(sets []policy.Set) *facts {
	return &facts{index: map[shape]term{}, sets: sets, fuel: maxFuel}
}

// mark is a moment to go back to.
type mark struct {
	trail int
	dead  bool
}

func (f *facts) mark() mark { return mark{len(f.trail), f.dead} }

// undo takes back everything since m.
func (f *facts) undo(m mark) {
	for i := len(f.trail) - 1; i >= m.trail; i-- {
		f.known[f.trail[i].term] = f.trail[i].was
	}
	f.trail, f.dead = f.trail[:m.trail], m.dead
}

// assume runs body where the condition t is b, and takes the assumption back.
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

// learn adds the fact that t has one of the values v, and reports whether it was news.
func (f *facts) learn(t term, v value) bool {
	was := f.known[t]
	now := was.meet(v)
	if now.same(was) {
		return false
	}
	f.trail = append(f.trail, change{t, was})
	f.known[t] = now
	f.dead = f.dead || now.empty()
	return true
}

// either adds the facts that hold after one of two steps, whichever it was.
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

// since returns the facts that are new since m.
func (f *facts) since(m mark) map[term]value {
	news := map[term]value{}
	for _, c := range f.trail[m.trail:] {
		news[c.term] = f.known[c.term]
	}
	return news
}

// reach bounds how deep value looks into a term.
const reach = 3

// value returns the values of t, from what is known about it and about the terms it is made of.
func (f *facts) value(t term, reach int) value {
	s, known := f.shapes[t], f.known[t]
	if reach == 0 || s.a == none {
		return known
	}
	f.fuel--
	var computed value
	if s.op == policy.OpIn {
		computed = boolValue(withinSet(f.value(s.a, reach-1), f.sets[s.imm]))
	} else if s.op == policy.OpIf {
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

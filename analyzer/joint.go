package analyzer

import (
	"fmt"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// joint holds the facts of several policies that are evaluated on one event, one after the other.
// They read the same values of stubs. A state may change between them, and draws differ.
type joint struct {
	*facts
	offsets map[string]int // of reads, by their texts
	reads   []ir.Read
	members int
}

func newJoint() *joint { return &joint{facts: newFacts(nil), offsets: map[string]int{}} }

// join returns the analysis of a policy with the joint facts, for the arriving tasks that its match
// lets through.
func (j *joint) join(m Member) *analysis {
	p := *m.Verified.program
	p.Reads = slices.Clone(p.Reads)
	a := newAnalysis(&p, 0)
	a.facts, a.base, a.matched, a.lenient = j.facts, len(j.sets), map[stubs.NameID]string{}, true
	j.sets = append(j.sets, p.Sets...)
	j.members++
	for i, r := range p.Reads {
		text := fmt.Sprint(r, r.Type)
		if r.OfState() || r.Stub == stubs.Draw {
			text = fmt.Sprint(j.members, text)
		}
		if _, known := j.offsets[text]; !known {
			j.offsets[text] = len(j.offsets)
		}
		p.Reads[i].Offset = j.offsets[text]
		a.reads[r.Offset] = p.Reads[i]
		if r.Stub == stubs.TaskKind {
			a.kind = &p.Reads[i]
		}
	}
	j.reads = append(j.reads, p.Reads...)
	a.learnMatch(m.Spec.Match)
	return a
}

// relate adds the facts about pairs of what the policies read.
func (j *joint) relate() {
	(&analysis{p: &ir.Program{Reads: j.reads}, facts: j.facts}).learnRelations()
}

// pathwise follows the statements of a policy one path after the other.
type pathwise struct {
	a     *analysis
	fired []*ir.Node // effects so far
	left  int        // how many more paths are followed
}

// maxPaths bounds the number of paths followed in a policy.
const maxPaths = 64

// walk calls then at the end of each path through n, with the facts of the path.
func (w *pathwise) walk(n *ir.Node, then func(last *ir.Node)) {
	if w.a.facts.dead || w.left <= 0 {
		return
	}
	switch n.Op {
	case ir.OpVerdict:
		w.left--
		then(n)
	case ir.OpEffect:
		if n.A != nil {
			w.a.eval(n.A)
		}
		w.fired = append(w.fired, n)
		then(n)
		w.fired = w.fired[:len(w.fired)-1]
	case ir.OpSeq:
		w.walk(n.A, func(*ir.Node) { w.walk(n.B, then) })
	case ir.OpLet:
		w.a.locals[n.Index], _ = w.a.eval(n.A)
		w.walk(n.B, then)
	case ir.OpIf:
		cond, v := w.a.eval(n.A)
		if v.truth.yes {
			w.a.facts.assume(cond, true, func() { w.walk(n.B, then) })
		}
		if v.truth.no {
			w.a.facts.assume(cond, false, func() { w.walk(n.C, then) })
		}
	}
}

// throws reports whether a verdict refuses the arriving task.
func throws(n *ir.Node) bool {
	return n.Op == ir.OpVerdict && stubs.Decision(n.Imm) == stubs.Throw
}

// meets reports whether some arriving tasks match both policies. If each match is about something
// else, as one about a name and the other about a loop, it is not known, and meets says no.
func (m Member) meets(o Member) bool {
	a, b := m.Spec.Match, o.Spec.Match
	namesA, namesB := len(a.Tasks)+len(a.Except) > 0, len(b.Tasks)+len(b.Except) > 0
	more := namesA && !namesB || len(a.Kinds) > 0 && len(b.Kinds) == 0 || len(a.Loops) > 0 && len(b.Loops) == 0
	less := namesB && !namesA || len(b.Kinds) > 0 && len(a.Kinds) == 0 || len(b.Loops) > 0 && len(a.Loops) == 0
	return !(more && less) && sameLoop(a, b) && sameKinds(a, b) && m.sharesNames(o)
}

func sameKinds(a, b policy.Match) bool {
	return len(a.Kinds) == 0 || len(b.Kinds) == 0 || slices.ContainsFunc(a.Kinds, func(kind string) bool { return slices.Contains(b.Kinds, kind) })
}

// sharesNames reports whether a name matches both policies, among the names and patterns that the
// policies mention.
func (m Member) sharesNames(o Member) bool {
	name := property{stub: stubs.TaskName}
	texts := []string{unmentioned}
	for _, text := range slices.Concat(m.Spec.Match.Tasks, m.Spec.Match.Except, o.Spec.Match.Tasks, o.Spec.Match.Except) {
		pattern, _ := lang.ParsePattern(text)
		texts = append(texts, pattern.Sample())
	}
	return slices.ContainsFunc(texts, func(text string) bool { return m.concerns(name, text) && o.concerns(name, text) })
}

package analyzer

import (
	"fmt"
	"math"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// Related returns the relation of two reads of one evaluation; ok is false if there is none. For
// example, a figure's lower quantile is never greater than its higher one.
func Related(of, to ir.Read) (r ir.Relation, ok bool) {
	whole := func(r ir.Read) bool {
		return r.Taken == ir.TakenWhole && (r.Pattern == "" || r.Type != stubs.Bool)
	}
	if !whole(of) || !whole(to) {
		return r, false
	}
	if of.Quantile > 0 && of.Stub == to.Stub && of.Window == to.Window && of.Quantile < to.Quantile {
		return ir.Relation{Of: of.Stub, To: to.Stub, Kind: ir.AtMost, Why: "a greater share of the times is as long at most"}, true
	}
	for _, r := range ir.Relations {
		if r.Of == of.Stub && r.To == to.Stub {
			return r, true
		}
	}
	return r, false
}

// related is a relation of two terms. Relations are for warnings: they serve no proof.
type related struct {
	of, to term
	kind   ir.RelationKind
}

// learnRelations adds the facts about pairs of the program's reads, and reports whether there are
// any.
func (a *analysis) learnRelations() (some bool) {
	f := a.facts
	f.related = map[term][]related{}
	for _, of := range a.p.Reads {
		for _, to := range a.p.Reads {
			r, ok := Related(of, to)
			if !ok {
				continue
			}
			some = true
			pair := related{f.read(of), f.read(to), r.Kind}
			f.related[pair.of] = append(f.related[pair.of], pair)
			f.related[pair.to] = append(f.related[pair.to], pair)
			if r.Kind != ir.ZeroWhile {
				f.relate(pair.to, pair.of, interval{lo: 0, hi: math.MaxInt64}, anyFloat)
			}
		}
	}
	return some
}

// besidesRelated adds the warnings that follow from the relations of stubs. A condition that is
// always true gets no warning, because it does no harm: queue.length > 0 after a comparison of
// queue.oldest is an example.
func besidesRelated(p *ir.Program, limits Limits, all []Warning) []Warning {
	a := newAnalysis(p, limits.Interval)
	a.declared, a.lenient, a.matched, a.match = limits.Match, true, map[stubs.NameID]string{}, &limits.Match
	if !a.learnRelations() {
		return all
	}
	a.tieNames()
	a.learnEvents()
	a.learnMatch(limits.Match)
	a.learnEvent(limits.Custom)
	if a.statement(p.Root); a.err == nil {
		a.review()
	}
	for _, w := range a.warnings {
		if !a.alwaysTrue[w.Pos] && !slices.ContainsFunc(all, func(v Warning) bool { return v.Pos == w.Pos }) {
			all = append(all, w)
		}
	}
	return all
}

// follow adds what the facts about t imply for related stubs.
func (f *facts) follow(t term) {
	for _, r := range f.related[t] {
		if f.dead || f.fuel < 0 {
			return
		}
		f.fuel--
		of, to := f.known[r.of], f.known[r.to]
		switch zero := to.of.Integral() && to.ints == exactly(0) || to.of == stubs.Name && to.names.single() && to.names.has(0); {
		case r.kind != ir.ZeroWhile && t == r.of:
			f.learn(r.to, intValue(to.of, interval{lo: of.ints.lo, hi: math.MaxInt64}))
		case r.kind != ir.ZeroWhile:
			f.learn(r.of, intValue(of.of, interval{lo: math.MinInt64, hi: to.ints.hi}))
		case t == r.to && zero:
			f.learn(r.of, intValue(of.of, exactly(0)))
		case t == r.of && of.ints.lo > 0:
			f.learn(r.to, to.without(constant(to.of, 0)))
		}
	}
}

// relation describes the relation of the reads of a comparison, or returns "".
func (a *analysis) relation(n *ir.Node) (text, why string) {
	var reads []ir.Read
	n.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpRead {
			reads = append(reads, a.reads[n.Index])
		}
		return false
	})
	for _, of := range reads {
		for _, to := range reads {
			switch r, ok := Related(of, to); {
			case ok && r.Kind == ir.ZeroWhile:
				return fmt.Sprintf("%v is 0 while %v is empty", of, to), r.Why
			case ok:
				return fmt.Sprintf("%v is never greater than %v", of, to), r.Why
			}
		}
	}
	return "", ""
}

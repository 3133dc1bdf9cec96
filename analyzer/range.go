package analyzer

import (
	"maps"
	"math"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// ranges are the values that policies together give to states, by the states' own names. A range
// may have values that no policy gives, and never misses one.
type ranges struct {
	of    map[string]value
	next  map[string]value // the first values, and what policies write in one step from of
	rises map[string]bool  // states that never fall
}

// Rounds of the search for ranges. After exactRounds, a bound that still moves leaps to the next
// number in a policy's text, and after leapRounds it is given up. At the end, what policies write
// from the range found is a smaller one.
const (
	exactRounds = 2
	leapRounds  = 6
	maxRounds   = 10
)

// boundsIn returns the numbers at which ranges of states are likely to end, in their order: the
// numbers in the texts of policies, 0 and 1.
func boundsIn(members []Member) []float64 {
	all := []float64{0, 1}
	for _, m := range members {
		m.Verified.program.Root.Any(func(n *ir.Node) bool {
			switch {
			case n.Op != ir.OpConst || !n.Type.Numeric():
			case n.Type == stubs.Float:
				all = append(all, math.Float64frombits(n.Imm))
			default:
				all = append(all, float64(int64(n.Imm)))
			}
			return false
		})
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// rangesOf finds the ranges of the numeric states that policies write.
func rangesOf(members []Member, d Declared) *ranges {
	first, r := map[string]value{}, &ranges{rises: map[string]bool{}}
	for name, c := range countsOf(members) {
		if s, ok := c.by[0].declaration(d); ok && !s.IsBucket() && s.Type.Numeric() {
			first[name], r.rises[name] = constant(s.Type, s.First), !c.falls && !c.moves
		}
	}
	writers := slices.DeleteFunc(slices.Clone(members), func(m Member) bool {
		return !slices.ContainsFunc(m.Verified.program.Sites, func(s ir.Site) bool { return s.Effect.Writes() })
	})
	step := func() {
		r.next = maps.Clone(first)
		for _, m := range writers {
			r.write(m)
		}
	}
	r.of = maps.Clone(first)
	leaps := boundsIn(writers)
	for round := range maxRounds {
		step()
		found := true
		for name, was := range r.of {
			now := was.join(r.next[name])
			found = found && now.same(was)
			switch {
			case round >= leapRounds:
				now = now.widened(was, nil)
			case round >= exactRounds:
				now = now.widened(was, leaps)
			}
			r.of[name] = now
		}
		if found {
			for range 2 {
				step()
				r.of = r.next
			}
			return r
		}
	}
	r.of = map[string]value{} // unknown
	return r
}

// widened moves the bounds of v that differ from the bounds of an earlier v to the next of some
// numbers, or removes them.
func (v value) widened(was value, leaps []float64) value {
	above := func(n float64) float64 {
		if i, _ := slices.BinarySearch(leaps, n); i < len(leaps) {
			return leaps[i]
		}
		return math.Inf(1)
	}
	below := func(n float64) float64 {
		i, found := slices.BinarySearch(leaps, n)
		if found {
			return n
		}
		if i > 0 {
			return leaps[i-1]
		}
		return math.Inf(-1)
	}
	if v.ints.lo < was.ints.lo {
		v.ints.lo = toInt(below(float64(v.ints.lo)))
	}
	if v.ints.hi > was.ints.hi {
		v.ints.hi = toInt(above(float64(v.ints.hi)))
	}
	if v.floats.lo < was.floats.lo {
		v.floats.lo = below(v.floats.lo)
	}
	if v.floats.hi > was.floats.hi {
		v.floats.hi = above(v.floats.hi)
	}
	return v
}

// toInt returns the int that a bound stands for: beyond the exact ones, the farthest.
func toInt(bound float64) int64 {
	const exact = 1 << 53
	switch {
	case bound > exact:
		return math.MaxInt64
	case bound < -exact:
		return math.MinInt64
	}
	return int64(bound)
}

// write adds what a policy writes to next.
func (r *ranges) write(m Member) {
	a := r.analysis(m)
	writes := map[string]int{}
	for _, s := range a.p.Sites {
		writes[s.Name]++
	}
	a.firing = func(n *ir.Node) {
		site := a.p.Sites[n.Index]
		name := m.own(site.Name)
		now, tracked := r.of[name]
		if !tracked || !site.Effect.Writes() || a.facts.dead {
			return
		}
		for _, read := range a.p.Reads {
			if read.Stub == stubs.State && read.Key == site.Name && sameKey(read.By, site.By) && writes[site.Name] == 1 {
				now = a.facts.known[a.facts.read(read)]
			}
		}
		v := a.values[n.A]
		v.floats.nan, now.floats.nan = false, false // no state is NaN
		r.next[name] = r.next[name].join(written(site.Effect, now, v))
	}
	a.statement(a.p.Root)
}

// written returns the values of a state after an effect with an operand of the values v.
func written(effect stubs.Effect, was, v value) value {
	switch effect {
	case stubs.Add:
		v, _ = apply(ir.OpAdd, was.of, was, v)
	case stubs.Max:
		v.ints = interval{lo: max(was.ints.lo, v.ints.lo), hi: max(was.ints.hi, v.ints.hi)}
		v.floats = was.floats.max(v.floats)
	case stubs.Min:
		v.ints = interval{lo: min(was.ints.lo, v.ints.lo), hi: min(was.ints.hi, v.ints.hi)}
		v.floats = was.floats.neg().max(v.floats.neg()).neg()
	}
	v.floats.nan = false
	return v
}

// analysis returns an analysis of a policy with the ranges as facts.
func (r *ranges) analysis(m Member) *analysis {
	a := newAnalysis(m.Verified.program, 0)
	a.lenient, a.matched = true, map[stubs.NameID]string{}
	a.tieNames()
	a.learnEvents()
	a.learnMatch(m.Spec.Match)
	for _, read := range a.p.Reads {
		v, tracked := r.of[m.own(read.Key)]
		switch {
		case !read.OfState() || !tracked:
		case read.Stub == stubs.StateRate && r.rises[m.own(read.Key)] && v.of != stubs.Float:
			a.facts.learn(a.facts.read(read), floatValue(floats{lo: 0, hi: math.Inf(1)}))
		case read.Stub == stubs.StateAverage && v.of == stubs.Int:
			a.facts.learn(a.facts.read(read), floatValue(v.ints.toFloats()))
		case read.Type == v.of && read.Stub != stubs.StateRate:
			a.facts.learn(a.facts.read(read), v)
		}
	}
	return a
}

package analyzer

import (
	"math"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// in numbers the expression "x is in the set".
func (f *facts) in(x term, set int) term {
	return f.term(shape{ir.OpIn, stubs.Bool, x, none, none, uint64(set)}, nil)
}

// withinSet returns whether one of the values can be in the set, and whether one can be outside.
// For integers it uses only the bounds.
func withinSet(v value, s ir.Set) truth {
	if v.of == stubs.Name {
		if v.names.except {
			return truth{yes: true, no: true}
		}
		var t truth
		for _, id := range v.names.ids {
			if s.Has(uint64(id)) {
				t.yes = true
			} else {
				t.no = true
			}
		}
		return t
	}
	if i := v.ints; i.single() {
		has := s.Has(uint64(i.lo))
		return truth{yes: has, no: !has}
	}
	return truth{yes: !v.ints.meet(rangeOf(s)).empty(), no: true}
}

// rangeOf returns the least and the greatest of a set's integers, which are sorted as unsigned
// words.
func rangeOf(s ir.Set) interval {
	i := interval{lo: math.MaxInt64, hi: math.MinInt64}
	for _, w := range s.Words {
		i.lo, i.hi = min(i.lo, int64(w)), max(i.hi, int64(w))
	}
	i.nonzero = !s.Has(0)
	return i.normal()
}

// namesOf returns a set's names.
func namesOf(s ir.Set) nameSet {
	ids := make([]stubs.NameID, len(s.Words))
	for i, w := range s.Words {
		ids[i] = stubs.NameID(w)
	}
	return nameSet{ids: ids}
}

// refineIn adds that x is in the set, or is not. It takes time proportional to the size of the set.
func (f *facts) refineIn(x term, s ir.Set, b bool) {
	f.fuel -= len(s.Words) / 16
	switch {
	case s.Type == stubs.Name && b:
		f.narrow(x, nameValue(namesOf(s)))
	case s.Type == stubs.Name:
		f.narrow(x, nameValue(namesOf(s).complement()))
	case b:
		f.narrow(x, intValue(s.Type, rangeOf(s)))
	}
}

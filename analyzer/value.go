package analyzer

import (
	"math"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// truth is a set of bools.
type truth struct{ yes, no bool }

func (t truth) not() truth { return truth{yes: t.no, no: t.yes} }

func (t truth) constant() bool { return t.yes != t.no }

// nameSet is a finite set of names, or all names except a finite set.
type nameSet struct {
	ids    []stubs.NameID // sorted; never written to
	except bool
}

var anyName = nameSet{except: true}

func exactName(id stubs.NameID) nameSet { return nameSet{ids: []stubs.NameID{id}} }

func (s nameSet) has(id stubs.NameID) bool {
	_, found := slices.BinarySearch(s.ids, id)
	return found != s.except
}

func (s nameSet) empty() bool { return !s.except && len(s.ids) == 0 }

func (s nameSet) single() bool { return !s.except && len(s.ids) == 1 }

func (s nameSet) complement() nameSet { return nameSet{s.ids, !s.except} }

func (s nameSet) meet(t nameSet) nameSet {
	if s.except && t.except {
		ids := slices.Concat(s.ids, t.ids)
		slices.Sort(ids)
		return nameSet{slices.Compact(ids), true}
	}
	if s.except || !t.except && len(t.ids) < len(s.ids) {
		s, t = t, s // iterate over the shorter list
	}
	var ids []stubs.NameID
	for _, id := range s.ids {
		if t.has(id) {
			ids = append(ids, id)
		}
	}
	return nameSet{ids: ids}
}

func (s nameSet) join(t nameSet) nameSet {
	return s.complement().meet(t.complement()).complement()
}

func (s nameSet) equal(t nameSet) truth {
	return truth{yes: !s.meet(t).empty(), no: !s.single() || !t.single() || s.ids[0] != t.ids[0]}
}

// value is the set of possible words of an expression of one type, in the representation of that
// type; the other fields are zero. It may have impossible words, but never misses a possible one.
type value struct {
	of     stubs.Type
	truth  truth
	ints   interval
	floats floats
	names  nameSet
}

// anyOf returns all values of the type.
func anyOf(t stubs.Type) value {
	return value{of: t, truth: truth{true, true}, ints: anyInt, floats: anyFloat, names: anyName}
}

func boolValue(t truth) value                 { return value{of: stubs.Bool, truth: t} }
func intValue(t stubs.Type, i interval) value { return value{of: t, ints: i} }
func floatValue(f floats) value               { return value{of: stubs.Float, floats: f} }
func nameValue(n nameSet) value               { return value{of: stubs.Name, names: n} }
func known(b bool) value                      { return boolValue(truth{yes: b, no: !b}) }
func (v value) retyped(t stubs.Type) value    { return intValue(t, v.ints) }
func (v value) only(b bool) bool              { return v.truth == truth{yes: b, no: !b} }
func constant(t stubs.Type, word uint64) value {
	switch {
	case t == stubs.Bool:
		return known(word != 0)
	case t == stubs.Float:
		return floatValue(exactlyFloat(math.Float64frombits(word)))
	case t == stubs.Name:
		return nameValue(exactName(stubs.NameID(word)))
	}
	return intValue(t, exactly(int64(word)))
}

// has reports whether the word is one of the values.
func (v *value) has(word uint64) bool {
	switch v.of {
	case stubs.Bool:
		return word != 0 && v.truth.yes || word == 0 && v.truth.no
	case stubs.Float:
		return v.floats.has(math.Float64frombits(word))
	case stubs.Name:
		return v.names.has(stubs.NameID(word))
	}
	return v.ints.has(int64(word))
}

// unlimited is a bound in the catalogue that means "no bound": the analysis then assumes none.
const unlimited = 1 << 62

// readValue returns the values of a stub according to the catalogue. A registered state can have
// any value; a bucket has at most its capacity of tokens.
func readValue(r ir.Read) value {
	v := anyOf(r.Type)
	switch {
	case r.Burst > 0:
		v.floats = floats{lo: 0, hi: r.Burst}
		return v
	case r.Stub == stubs.Draw:
		return floatValue(floats{lo: 0, hi: below(1)})
	case r.Taken == ir.TakenFloat:
		return floatValue(floats{lo: -math.MaxFloat64, hi: math.MaxFloat64})
	case r.Stub >= stubs.State || r.Taken != ir.TakenWhole:
		return v
	}
	stub := stubs.Catalogue[r.Stub]
	switch {
	case stub.Enum:
		v.names = nameSet{}
		for _, kind := range stubs.Kinds {
			v.names = v.names.join(exactName(kind))
		}
	case r.Type == stubs.Float && stub.Min > -unlimited && stub.Max < unlimited:
		v.floats = floats{lo: float64(stub.Min), hi: float64(stub.Max)}
	case r.Type.Integral():
		if stub.Min > -unlimited {
			v.ints.lo = stub.Min
		}
		if stub.Max < unlimited {
			v.ints.hi = stub.Max
		}
	}
	return v
}

func (v value) empty() bool {
	switch {
	case v.of == stubs.Bool:
		return v.truth == truth{}
	case v.of == stubs.Float:
		return v.floats.empty()
	case v.of == stubs.Name:
		return v.names.empty()
	}
	return v.ints.empty()
}

func (v value) meet(w value) value {
	switch {
	case v.of == stubs.Bool:
		return boolValue(truth{v.truth.yes && w.truth.yes, v.truth.no && w.truth.no})
	case v.of == stubs.Float:
		return floatValue(v.floats.meet(w.floats))
	case v.of == stubs.Name:
		return nameValue(v.names.meet(w.names))
	}
	return intValue(v.of, v.ints.meet(w.ints))
}

func (v value) join(w value) value {
	switch {
	case v.of == stubs.Bool:
		return boolValue(truth{v.truth.yes || w.truth.yes, v.truth.no || w.truth.no})
	case v.of == stubs.Float:
		return floatValue(v.floats.join(w.floats))
	case v.of == stubs.Name:
		return nameValue(v.names.join(w.names))
	}
	return intValue(v.of, v.ints.join(w.ints))
}

func (v value) same(w value) bool {
	return v.of == w.of && v.truth == w.truth && v.ints == w.ints && v.floats == w.floats &&
		v.names.except == w.names.except && slices.Equal(v.names.ids, w.names.ids)
}

func (v value) hasZero() bool {
	if v.of == stubs.Float {
		return v.floats.hasZero()
	}
	return v.ints.hasZero()
}

func (v value) equal(w value) truth {
	switch {
	case v.of == stubs.Bool:
		return truth{
			yes: v.truth.yes && w.truth.yes || v.truth.no && w.truth.no,
			no:  v.truth.yes && w.truth.no || v.truth.no && w.truth.yes,
		}
	case v.of == stubs.Float:
		return v.floats.equal(w.floats)
	case v.of == stubs.Name:
		return v.names.equal(w.names)
	}
	return v.ints.equal(w.ints)
}

func (v value) less(w value) truth {
	if v.of == stubs.Float {
		return v.floats.less(w.floats)
	}
	return v.ints.less(w.ints)
}

func (v value) lessOrEqual(w value) truth {
	if v.of == stubs.Float {
		return v.floats.lessOrEqual(w.floats)
	}
	return w.ints.less(v.ints).not()
}

package analyzer

import "math"

// floats is a set of float64: lo to hi including infinities, without 0 if nonzero is set, and with
// NaN if nan is set. It has no number when lo > hi. The two zeros count as one. Rounding is
// monotonic, so the results at the ends bound the other results exactly.
type floats struct {
	lo, hi  float64
	nonzero bool // lo < 0 < hi, and 0 is not in the set
	nan     bool
}

var anyFloat = floats{lo: math.Inf(-1), hi: math.Inf(1), nan: true}

func noFloats(nan bool) floats { return floats{lo: math.Inf(1), hi: math.Inf(-1), nan: nan} }

func exactlyFloat(f float64) floats {
	if math.IsNaN(f) {
		return noFloats(true)
	}
	return floats{lo: f, hi: f}
}

func (s floats) noNumber() bool { return s.lo > s.hi }

func (s floats) empty() bool { return s.noNumber() && !s.nan }

func (s floats) hasZero() bool { return s.lo <= 0 && 0 <= s.hi && !s.nonzero }

func (s floats) has(f float64) bool {
	return s.nan && f != f || s.lo <= f && f <= s.hi && (f != 0 || !s.nonzero)
}

func (s floats) single() bool { return s.lo == s.hi && !s.nan }

func (s floats) infinite() bool { return math.IsInf(s.lo, 0) || math.IsInf(s.hi, 0) }

// numbers returns the set without NaN: the values for which a comparison can hold.
func (s floats) numbers() floats { s.nan = false; return s }

// above and below return the floats next to f.
func above(f float64) float64 { return math.Nextafter(f, math.Inf(1)) }
func below(f float64) float64 { return math.Nextafter(f, math.Inf(-1)) }

// without removes f, if the representation can express that.
func (s floats) without(f float64) floats {
	switch {
	case s.noNumber():
	case s.lo == f && s.hi == f:
		return noFloats(s.nan)
	case s.lo == f:
		s.lo = above(f)
	case s.hi == f:
		s.hi = below(f)
	case f == 0:
		s.nonzero = true
	}
	return s.normal()
}

func (s floats) normal() floats {
	if s.nonzero {
		if s.lo == 0 {
			s.lo = above(0)
		}
		if s.hi == 0 {
			s.hi = below(0)
		}
		s.nonzero = s.lo < 0 && 0 < s.hi
	}
	return s
}

func (s floats) meet(t floats) floats {
	return floats{math.Max(s.lo, t.lo), math.Min(s.hi, t.hi), !s.hasZero() || !t.hasZero(), s.nan && t.nan}.normal()
}

func (s floats) join(t floats) floats {
	nan := s.nan || t.nan
	switch {
	case s.noNumber():
		t.nan = nan
		return t
	case t.noNumber():
		s.nan = nan
		return s
	}
	return floats{math.Min(s.lo, t.lo), math.Max(s.hi, t.hi), !s.hasZero() && !t.hasZero(), nan}.normal()
}

// spanFloats is the set from the least to the greatest corner. A NaN corner gives no information,
// so the result is all floats.
func spanFloats(nan bool, corners ...float64) floats {
	r := noFloats(nan)
	for _, c := range corners {
		if math.IsNaN(c) {
			return anyFloat
		}
		r.lo, r.hi = math.Min(r.lo, c), math.Max(r.hi, c)
	}
	return r
}

func (s floats) neg() floats {
	s.lo, s.hi = -s.hi, -s.lo
	return s
}

func (s floats) add(t floats) floats {
	if s.noNumber() || t.noNumber() {
		return noFloats(true)
	}
	clash := math.IsInf(s.hi, 1) && math.IsInf(t.lo, -1) || math.IsInf(s.lo, -1) && math.IsInf(t.hi, 1)
	return spanFloats(s.nan || t.nan || clash, s.lo+t.lo, s.hi+t.hi)
}

// max is the greater of two values, NaN if either is.
func (s floats) max(t floats) floats {
	if s.noNumber() || t.noNumber() {
		return noFloats(true)
	}
	return floats{math.Max(s.lo, t.lo), math.Max(s.hi, t.hi), !s.hasZero() && !t.hasZero(), s.nan || t.nan}.normal()
}

// sqrt is the square root, NaN below 0. It is monotonic, and rounds as one operation.
func (s floats) sqrt() floats {
	nan := s.nan || s.lo < 0 && !s.noNumber()
	if s.noNumber() || s.hi < 0 {
		return noFloats(true)
	}
	r := floats{lo: math.Sqrt(math.Max(s.lo, 0)), hi: math.Sqrt(s.hi), nan: nan}
	if s.nonzero {
		r.lo = math.Sqrt(above(0))
	}
	return r
}

// mul is the product. Zero times infinity is NaN, and products next to it are between zero and
// infinity: as a corner it counts as zero.
func (s floats) mul(t floats) floats {
	if s.noNumber() || t.noNumber() {
		return noFloats(true)
	}
	clash := s.hasZero() && t.infinite() || t.hasZero() && s.infinite()
	product := func(a, b float64) float64 {
		if a == 0 || b == 0 {
			return 0
		}
		return a * b
	}
	return spanFloats(s.nan || t.nan || clash, product(s.lo, t.lo), product(s.lo, t.hi), product(s.hi, t.lo), product(s.hi, t.hi))
}

// div is the quotient. Infinity by infinity is NaN, and quotients next to it are between zero and
// infinity: as a corner it counts as zero.
func (s floats) div(t floats) floats {
	if s.noNumber() || t.noNumber() {
		return noFloats(true)
	}
	nan := s.nan || t.nan || s.infinite() && t.infinite()
	switch {
	case t.hasZero():
		return anyFloat
	case t.nonzero: // by a small number of either sign
		return floats{lo: math.Inf(-1), hi: math.Inf(1), nan: nan}
	}
	quotient := func(a, b float64) float64 {
		if math.IsInf(a, 0) && math.IsInf(b, 0) {
			return 0
		}
		return a / b
	}
	return spanFloats(nan, quotient(s.lo, t.lo), quotient(s.lo, t.hi), quotient(s.hi, t.lo), quotient(s.hi, t.hi))
}

func (s floats) less(t floats) truth {
	return truth{yes: s.lo < t.hi && !s.noNumber() && !t.noNumber(), no: s.hi >= t.lo || s.nan || t.nan}
}

func (s floats) lessOrEqual(t floats) truth {
	return truth{yes: s.lo <= t.hi && !s.noNumber() && !t.noNumber(), no: s.hi > t.lo || s.nan || t.nan}
}

func (s floats) equal(t floats) truth {
	return truth{yes: !s.meet(t).noNumber(), no: !s.single() || !t.single() || s.lo != t.lo}
}

// toFloats converts integers. The conversion rounds, and rounding is monotonic.
func (i interval) toFloats() floats {
	return floats{lo: float64(i.lo), hi: float64(i.hi), nonzero: i.nonzero}.normal()
}

// twoTo63 is the least float64 above every int64.
const twoTo63 = 1 << 63

// toInts converts towards zero. never reports that no member fits an int64; a duration then
// saturates.
func (s floats) toInts() (i interval, never bool) {
	switch {
	case s.noNumber():
		return anyInt, true
	case s.lo >= twoTo63:
		return exactly(math.MaxInt64), true
	case s.hi < -twoTo63:
		return exactly(math.MinInt64), true
	}
	i = anyInt
	if s.lo >= -twoTo63 {
		i.lo = int64(s.lo)
	}
	if s.hi < twoTo63 {
		i.hi = int64(s.hi)
	}
	return i, false
}

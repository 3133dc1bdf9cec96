package analyzer

import (
	"math"
	"math/bits"
)

// interval is a set of int64: lo to hi, without 0 if nonzero is set. It is empty when lo > hi.
// Other gaps are not represented: only the absence of zero proves anything.
type interval struct {
	lo, hi  int64
	nonzero bool // lo < 0 < hi, and 0 is not in the set
}

var anyInt = interval{lo: math.MinInt64, hi: math.MaxInt64}

func exactly(n int64) interval { return interval{lo: n, hi: n} }

func (i interval) empty() bool { return i.lo > i.hi }

func (i interval) hasZero() bool { return i.lo <= 0 && 0 <= i.hi && !i.nonzero }

func (i interval) has(n int64) bool { return i.lo <= n && n <= i.hi && (n != 0 || !i.nonzero) }

func (i interval) single() bool { return i.lo == i.hi }

// without removes n, if the representation can express that.
func (i interval) without(n int64) interval {
	switch {
	case i.empty():
	case i.single() && i.lo == n:
		return interval{lo: 1, hi: 0}
	case i.lo == n:
		i.lo++
	case i.hi == n:
		i.hi--
	case n == 0:
		i.nonzero = true
	}
	return i.normal()
}

// normal restores the invariant of nonzero: a bound of 0 moves by one.
func (i interval) normal() interval {
	if i.nonzero {
		if i.lo == 0 {
			i.lo = 1
		}
		if i.hi == 0 {
			i.hi = -1
		}
		i.nonzero = i.lo < 0 && 0 < i.hi
	}
	return i
}

func (i interval) meet(j interval) interval {
	return interval{max(i.lo, j.lo), min(i.hi, j.hi), !i.hasZero() || !j.hasZero()}.normal()
}

func (i interval) join(j interval) interval {
	if i.empty() {
		return j
	}
	if j.empty() {
		return i
	}
	return interval{min(i.lo, j.lo), max(i.hi, j.hi), !i.hasZero() && !j.hasZero()}.normal()
}

// A wide is the exact result of an operation on int64s; a result out of range is clamped and
// marked.
type wide struct {
	n    int64
	over int // -1 or 1: beyond that end
}

func less(a, b wide) bool { return a.over < b.over || a.over == b.over && a.n < b.n }

// hull is the interval from the least to the greatest of corners. never reports that none of them
// is in range: the operation fails for all operands.
func hull(corners ...wide) (i interval, never bool) {
	lo, hi := corners[0], corners[0]
	for _, c := range corners[1:] {
		if less(c, lo) {
			lo = c
		}
		if less(hi, c) {
			hi = c
		}
	}
	return interval{lo: lo.n, hi: hi.n}, lo.over > 0 || hi.over < 0
}

func wideAdd(a, b int64) wide {
	switch c := a + b; {
	case b > 0 && c < a:
		return wide{math.MaxInt64, 1}
	case b < 0 && c > a:
		return wide{math.MinInt64, -1}
	default:
		return wide{c, 0}
	}
}

func wideSub(a, b int64) wide {
	switch c := a - b; {
	case b < 0 && c < a:
		return wide{math.MaxInt64, 1}
	case b > 0 && c > a:
		return wide{math.MinInt64, -1}
	default:
		return wide{c, 0}
	}
}

func wideMul(a, b int64) wide {
	negative := (a < 0) != (b < 0)
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	switch {
	case negative && (high > 0 || low > 1<<63):
		return wide{math.MinInt64, -1}
	case negative:
		return wide{-int64(low), 0}
	case high > 0 || low > math.MaxInt64:
		return wide{math.MaxInt64, 1}
	}
	return wide{int64(low), 0}
}

func wideDiv(a, b int64) wide {
	if a == math.MinInt64 && b == -1 {
		return wide{math.MaxInt64, 1}
	}
	return wide{a / b, 0}
}

// magnitude is |n|, exact even for the least int64.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

func (i interval) add(j interval) (interval, bool) {
	return hull(wideAdd(i.lo, j.lo), wideAdd(i.hi, j.hi))
}

func (i interval) sub(j interval) (interval, bool) {
	return hull(wideSub(i.lo, j.hi), wideSub(i.hi, j.lo))
}

func (i interval) neg() (interval, bool) {
	r, never := hull(wideSub(0, i.hi), wideSub(0, i.lo))
	r.nonzero = !i.hasZero()
	return r.normal(), never
}

func (i interval) mul(j interval) (interval, bool) {
	r, never := hull(wideMul(i.lo, j.lo), wideMul(i.lo, j.hi), wideMul(i.hi, j.lo), wideMul(i.hi, j.hi))
	r.nonzero = !i.hasZero() && !j.hasZero()
	return r.normal(), never
}

// div is the truncated quotient by the nonzero members of j. For a divisor of one sign the quotient
// is monotonic in both operands, so the corners of each half bound it.
func (i interval) div(j interval) (interval, bool) {
	var corners []wide
	for _, half := range []interval{{lo: max(j.lo, 1), hi: j.hi}, {lo: j.lo, hi: min(j.hi, -1)}} {
		if !half.empty() {
			corners = append(corners, wideDiv(i.lo, half.lo), wideDiv(i.lo, half.hi), wideDiv(i.hi, half.lo), wideDiv(i.hi, half.hi))
		}
	}
	if corners == nil {
		return anyInt, true
	}
	return hull(corners...)
}

// mod has the sign of i and stays below the magnitude of j.
func (i interval) mod(j interval) interval {
	limit := max(magnitude(j.lo), magnitude(j.hi))
	if limit == 0 {
		return anyInt
	}
	limit--
	if i.single() && j.single() && j.lo != 0 && j.lo != -1 {
		return exactly(i.lo % j.lo)
	}
	r := interval{}
	if i.lo < 0 {
		r.lo = -int64(min(magnitude(i.lo), limit, math.MaxInt64))
	}
	if i.hi > 0 {
		r.hi = int64(min(magnitude(i.hi), limit))
	}
	return r
}

func (i interval) less(j interval) truth {
	return truth{yes: i.lo < j.hi, no: i.hi >= j.lo}
}

func (i interval) equal(j interval) truth {
	return truth{yes: !i.meet(j).empty(), no: !i.single() || !j.single() || i.lo != j.lo}
}

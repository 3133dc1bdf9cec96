package analyzer

import (
	"math"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// narrow adds that t has one of the values v, and the consequences for its subterms.
func (f *facts) narrow(t term, v value) {
	f.fuel--
	if f.dead || f.fuel < 0 || !f.learn(t, v) || f.dead {
		return
	}
	v = f.known[t]
	s := f.shapes[t]
	switch {
	case s.op == ir.OpNeg && s.of == stubs.Float:
		f.narrow(s.a, floatValue(v.floats.neg()))
	case s.op == ir.OpMax:
		f.narrowExtreme(s.a, s.b, v.floats, greater)
	case s.op == ir.OpMin:
		f.narrowExtreme(s.a, s.b, v.floats, lesser)
	case s.op == ir.OpNeg:
		i, _ := v.ints.neg()
		f.narrow(s.a, intValue(s.of, i.open(s.of, v.ints.hi, v.ints.lo)))
	case s.op == ir.OpRetype:
		f.narrow(s.a, v.retyped(f.shapes[s.a].of))
	case s.op == ir.OpFloat:
		f.narrow(s.a, intValue(f.shapes[s.a].of, v.floats.integers()))
	case s.op == ir.OpAdd && s.of.Integral():
		f.narrowSum(s.a, s.b, v.ints)
	case s.op == ir.OpSub && s.of.Integral():
		f.narrowDifference(s.a, s.b, v.ints)
	}
}

// narrowExtreme adds that the greater of x and y, or the lesser, is v. If v can be NaN, one of them
// can be NaN and the other anything.
func (f *facts) narrowExtreme(x, y term, v floats, one func(v, other floats) floats) {
	vx, vy := f.value(x, reach).floats, f.value(y, reach).floats
	if !v.nan || !vy.nan {
		f.narrow(x, floatValue(one(v, vy)))
	}
	if !v.nan || !vx.nan {
		f.narrow(y, floatValue(one(v, vx)))
	}
}

// greater returns the possible values of one of two numbers, given their maximum v. If the other is
// below v, this one is v.
func greater(v, other floats) floats {
	one := floats{lo: math.Inf(-1), hi: v.hi, nan: v.nan}
	if other.hi < v.lo {
		one.lo = v.lo
	}
	return one
}

// lesser is the same where v is the lesser.
func lesser(v, other floats) floats { return greater(v.neg(), other.neg()).neg() }

// narrowSum adds that the integers x + y = sum. A sum that overflows has no value, so the exact
// inverse holds. A saturated duration, however, may have been any value beyond the end.
func (f *facts) narrowSum(x, y term, sum interval) {
	vx, vy := f.value(x, reach), f.value(y, reach)
	nx, _ := sum.sub(vy.ints)
	ny, _ := sum.sub(vx.ints)
	f.narrow(x, intValue(vx.of, nx.open(vx.of, sum.lo, sum.hi)))
	f.narrow(y, intValue(vy.of, ny.open(vy.of, sum.lo, sum.hi)))
}

// narrowDifference adds that the integers x - y = difference, as narrowSum does.
func (f *facts) narrowDifference(x, y term, difference interval) {
	vx, vy := f.value(x, reach), f.value(y, reach)
	nx, _ := difference.add(vy.ints)
	ny, _ := vx.ints.sub(difference)
	f.narrow(x, intValue(vx.of, nx.open(vx.of, difference.lo, difference.hi)))
	f.narrow(y, intValue(vy.of, ny.open(vy.of, difference.hi, difference.lo)))
}

// open removes the bounds lo and hi from results that may have saturated there.
func (i interval) open(of stubs.Type, lo, hi int64) interval {
	farthest := func(n int64) bool { return n == math.MinInt64 || n == math.MaxInt64 }
	if of == stubs.Duration && farthest(lo) {
		i.lo = math.MinInt64
	}
	if of == stubs.Duration && farthest(hi) {
		i.hi = math.MaxInt64
	}
	return i
}

// integers returns the integers that convert to a float64 in s. Beyond 2^53 the conversion
// rounds, and integers concludes nothing.
func (s floats) integers() interval {
	const exact = 1 << 53
	i := anyInt
	if s.lo > -exact && s.lo <= exact {
		i.lo = int64(math.Ceil(s.lo))
	}
	if s.hi < exact && s.hi >= -exact {
		i.hi = int64(math.Floor(s.hi))
	}
	i.nonzero = s.nonzero || !s.hasZero()
	return i.normal()
}

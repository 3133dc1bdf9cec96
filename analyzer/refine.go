package analyzer

import (
	"math"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// refine adds consequences of the condition t being b. It may miss consequences, but never adds a
// false one.
func (f *facts) refine(t term, b bool) {
	f.fuel--
	if f.dead || f.fuel < 0 {
		return
	}
	f.learn(t, known(b))
	if f.dead {
		return
	}
	switch s := f.shapes[t]; s.op {
	case policy.OpNot:
		f.refine(s.a, !b)
	case policy.OpAnd:
		f.refineAnd(s.a, s.b, b)
	case policy.OpIf:
		f.either(
			func() { f.refine(s.a, true); f.refine(s.b, b) },
			func() { f.refine(s.a, false); f.refine(s.c, b) },
		)
	case policy.OpIn:
		f.refineIn(s.a, f.sets[s.imm], b)
	case policy.OpEq:
		f.refineEqual(s.a, s.b, b)
	case policy.OpLt:
		f.refineLess(s.a, s.b, b)
	case policy.OpLe:
		f.refineLessOrEqual(s.a, s.b, b)
	}
}

func (f *facts) refineAnd(x, y term, b bool) {
	if b {
		f.refine(x, true)
		f.refine(y, true)
		return
	}
	f.either(
		func() { f.refine(x, false) },
		func() { f.refine(x, true); f.refine(y, false) },
	)
}

func (f *facts) refineEqual(x, y term, b bool) {
	vx, vy := f.value(x, reach), f.value(y, reach)
	switch of := vx.of; {
	case of == stubs.Bool:
		f.refineSame(x, vy, b)
		f.refineSame(y, vx, b)
	case b && of == stubs.Float:
		f.narrow(x, floatValue(vy.floats.numbers()))
		f.narrow(y, floatValue(vx.floats.numbers()))
	case b:
		f.narrow(x, vy)
		f.narrow(y, vx)
	default:
		f.narrow(x, vx.without(vy))
		f.narrow(y, vy.without(vx))
	}
	if b {
		f.relate(x, y, exactly(0), exactlyFloat(0))
	} else {
		f.relate(x, y, anyInt.without(0), anyFloat.without(0))
	}
}

// refineSame adds that the bool x equals a bool with the values v, or does not.
func (f *facts) refineSame(x term, v value, equal bool) {
	if v.truth.constant() {
		f.refine(x, v.truth.yes == equal)
	}
}

// refineLess adds that x < y, or not.
func (f *facts) refineLess(x, y term, b bool) {
	vx, vy := f.value(x, reach), f.value(y, reach)
	switch integral := vx.of.Integral(); {
	case !b && integral:
		f.ordered(y, x, vy, vx, false)
	case b && integral:
		f.ordered(x, y, vx, vy, true)
	case b:
		f.orderedFloats(x, y, vx.floats.numbers(), vy.floats.numbers(), true)
	default:
		f.orderedFloats(y, x, vy.floats, vx.floats, false)
	}
}

// refineLessOrEqual adds that the floats x <= y, or not.
func (f *facts) refineLessOrEqual(x, y term, b bool) {
	vx, vy := f.value(x, reach).floats, f.value(y, reach).floats
	if b {
		f.orderedFloats(x, y, vx.numbers(), vy.numbers(), false)
	} else {
		f.orderedFloats(y, x, vy, vx, true)
	}
}

// ordered adds that x < y, or x <= y when not strict.
func (f *facts) ordered(x, y term, vx, vy value, strict bool) {
	upper, lower, gap := wide{vy.ints.hi, 0}, wide{vx.ints.lo, 0}, int64(0)
	if strict {
		upper, lower, gap = wideSub(upper.n, 1), wideAdd(lower.n, 1), 1
	}
	if upper.over != 0 || lower.over != 0 { // no int64 is below the least, or above the greatest
		f.dead = true
		return
	}
	f.narrow(x, intValue(vx.of, interval{lo: math.MinInt64, hi: upper.n}))
	f.narrow(y, intValue(vy.of, interval{lo: lower.n, hi: math.MaxInt64}))
	f.relate(y, x, interval{lo: gap, hi: math.MaxInt64}, floats{})
}

// orderedFloats adds that x < y, or x <= y when not strict; or that either is NaN, if vx or vy
// allows it. A value bounds the other only if it cannot be NaN; the bounded value may be NaN
// itself.
func (f *facts) orderedFloats(x, y term, vx, vy floats, strict bool) {
	upper, lower, gap := vy.hi, vx.lo, 0.0
	if strict {
		upper, lower, gap = below(upper), above(lower), above(0)
	}
	if !vy.nan {
		f.narrow(x, floatValue(floats{lo: math.Inf(-1), hi: upper, nan: vx.nan}))
	}
	if !vx.nan {
		f.narrow(y, floatValue(floats{lo: lower, hi: math.Inf(1), nan: vy.nan}))
	}
	f.relate(y, x, interval{}, floats{lo: gap, hi: math.Inf(1), nan: true})
}

// relate adds the possible values of x - y and y - x to the facts about these differences. With
// this fact, x != y guards a division by x - y. Different floats have a nonzero difference, thanks
// to subnormal numbers; the difference of two equal infinities is NaN.
func (f *facts) relate(x, y term, ints interval, fl floats) {
	of := f.shapes[x].of
	if !of.Numeric() {
		return
	}
	fl.nan = true
	back, _ := ints.neg()
	if ints.hi == math.MaxInt64 {
		back.lo = math.MinInt64 // x - y may be the int64 without a negation
	}
	v, w := intValue(of, ints), intValue(of, back)
	if of == stubs.Float {
		v, w = floatValue(fl), floatValue(fl.neg())
	}
	f.learn(f.operation(policy.OpSub, of, x, y), v)
	f.learn(f.operation(policy.OpSub, of, y, x), w)
}

// without removes w from v when w is one value.
func (v value) without(w value) value {
	switch {
	case v.of == stubs.Float && w.floats.single():
		v.floats = v.floats.without(w.floats.lo)
	case v.of == stubs.Name && w.names.single():
		v.names = v.names.meet(w.names.complement())
	case v.of.Integral() && w.ints.single():
		v.ints = v.ints.without(w.ints.lo)
	}
	return v
}

// narrow adds that t has one of the values v, and the consequences for its subterms.
func (f *facts) narrow(t term, v value) {
	f.fuel--
	if f.dead || f.fuel < 0 || !f.learn(t, v) || f.dead {
		return
	}
	v = f.known[t]
	s := f.shapes[t]
	switch {
	case s.op == policy.OpNeg && s.of == stubs.Float:
		f.narrow(s.a, floatValue(v.floats.neg()))
	case s.op == policy.OpMax:
		f.narrowExtreme(s.a, s.b, v.floats, greater)
	case s.op == policy.OpMin:
		f.narrowExtreme(s.a, s.b, v.floats, lesser)
	case s.op == policy.OpNeg:
		i, _ := v.ints.neg()
		f.narrow(s.a, intValue(s.of, i.open(s.of, v.ints.hi, v.ints.lo)))
	case s.op == policy.OpRetype:
		f.narrow(s.a, v.retyped(f.shapes[s.a].of))
	case s.op == policy.OpFloat:
		f.narrow(s.a, intValue(f.shapes[s.a].of, v.floats.integers()))
	case s.op == policy.OpAdd && s.of.Integral():
		f.narrowSum(s.a, s.b, v.ints)
	case s.op == policy.OpSub && s.of.Integral():
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

// integers returns the integers whose conversion to float64 is in s. Beyond 2^53 the conversion
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

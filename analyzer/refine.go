package analyzer

import (
	"math"

	"github.com/cocoon-go/cocoon/internal/ir"
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
	case ir.OpNot:
		f.refine(s.a, !b)
	case ir.OpAnd:
		f.refineAnd(s.a, s.b, b)
	case ir.OpIf:
		f.either(
			func() { f.refine(s.a, true); f.refine(s.b, b) },
			func() { f.refine(s.a, false); f.refine(s.c, b) },
		)
	case ir.OpIn:
		f.refineIn(s.a, f.sets[s.imm], b)
	case ir.OpEq:
		f.refineEqual(s.a, s.b, b)
	case ir.OpLt:
		f.refineLess(s.a, s.b, b)
	case ir.OpLe:
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
	f.learn(f.operation(ir.OpSub, of, x, y), v)
	f.learn(f.operation(ir.OpSub, of, y, x), w)
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

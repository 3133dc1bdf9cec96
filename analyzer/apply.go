package analyzer

import (
	"math"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// apply computes the values of an operation from the values of its operands; unary operations
// ignore b. It leaves out operands for which the operation is a run-time error. never reports that
// all operands are such, or would be if durations did not saturate.
func apply(op policy.Op, of stubs.Type, a, b value) (v value, never bool) {
	switch op {
	case policy.OpNot:
		return boolValue(a.truth.not()), false
	case policy.OpAnd:
		return boolValue(truth{a.truth.yes && b.truth.yes, a.truth.no || b.truth.no}), false
	case policy.OpOr:
		return boolValue(truth{a.truth.yes || b.truth.yes, a.truth.no && b.truth.no}), false
	case policy.OpEq:
		return boolValue(a.equal(b)), false
	case policy.OpNe:
		return boolValue(a.equal(b).not()), false
	case policy.OpLt:
		return boolValue(a.less(b)), false
	case policy.OpGt:
		return boolValue(b.less(a)), false
	case policy.OpLe:
		return boolValue(a.lessOrEqual(b)), false
	case policy.OpGe:
		return boolValue(b.lessOrEqual(a)), false
	case policy.OpRetype:
		return a.retyped(of), false
	case policy.OpFloat:
		return floatValue(a.ints.toFloats()), false
	case policy.OpInt:
		i, never := a.floats.toInts()
		return intValue(of, i), never
	}
	if of == stubs.Float {
		return floatValue(applyFloats(op, a.floats, b.floats)), false
	}
	i, never := applyInts(op, a.ints, b.ints)
	return intValue(of, i), never
}

func applyInts(op policy.Op, a, b interval) (interval, bool) {
	switch op {
	case policy.OpNeg:
		return a.neg()
	case policy.OpAdd:
		return a.add(b)
	case policy.OpSub:
		return a.sub(b)
	case policy.OpMul:
		return a.mul(b)
	case policy.OpDiv:
		return a.div(b)
	case policy.OpMod:
		return a.mod(b), false
	case policy.OpMix:
		return interval{lo: 0, hi: math.MaxInt64}, false
	}
	return anyInt, false
}

func applyFloats(op policy.Op, a, b floats) floats {
	switch op {
	case policy.OpNeg:
		return a.neg()
	case policy.OpSqrt:
		return a.sqrt()
	case policy.OpAdd:
		return a.add(b)
	case policy.OpSub:
		return a.add(b.neg())
	case policy.OpMul:
		return a.mul(b)
	case policy.OpDiv:
		return a.div(b)
	case policy.OpMin:
		return a.neg().max(b.neg()).neg()
	case policy.OpMax:
		return a.max(b)
	}
	return anyFloat
}

package analyzer

import (
	"math"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// apply computes the values of an operation from the values of its operands; unary operations
// ignore b. It leaves out operands for which the operation is a run-time error. never reports that
// the operation is an error for all operands, or would be one if durations did not saturate.
func apply(op ir.Op, of stubs.Type, a, b value) (v value, never bool) {
	switch op {
	case ir.OpNot:
		return boolValue(a.truth.not()), false
	case ir.OpAnd:
		return boolValue(truth{a.truth.yes && b.truth.yes, a.truth.no || b.truth.no}), false
	case ir.OpOr:
		return boolValue(truth{a.truth.yes || b.truth.yes, a.truth.no && b.truth.no}), false
	case ir.OpEq:
		return boolValue(a.equal(b)), false
	case ir.OpNe:
		return boolValue(a.equal(b).not()), false
	case ir.OpLt:
		return boolValue(a.less(b)), false
	case ir.OpGt:
		return boolValue(b.less(a)), false
	case ir.OpLe:
		return boolValue(a.lessOrEqual(b)), false
	case ir.OpGe:
		return boolValue(b.lessOrEqual(a)), false
	case ir.OpRetype:
		return a.retyped(of), false
	case ir.OpFloat:
		return floatValue(a.ints.toFloats()), false
	case ir.OpInt:
		i, never := a.floats.toInts()
		return intValue(of, i), never
	}
	if of == stubs.Float {
		return floatValue(applyFloats(op, a.floats, b.floats)), false
	}
	i, never := applyInts(op, a.ints, b.ints)
	return intValue(of, i), never
}

func applyInts(op ir.Op, a, b interval) (interval, bool) {
	switch op {
	case ir.OpNeg:
		return a.neg()
	case ir.OpAdd:
		return a.add(b)
	case ir.OpSub:
		return a.sub(b)
	case ir.OpMul:
		return a.mul(b)
	case ir.OpDiv:
		return a.div(b)
	case ir.OpMod:
		return a.mod(b), false
	case ir.OpMix:
		if a.single() && b.single() {
			return exactly(int64(ir.Mix(uint64(a.lo), uint64(b.lo)))), false
		}
		return interval{lo: 0, hi: math.MaxInt64}, false
	}
	return anyInt, false
}

func applyFloats(op ir.Op, a, b floats) floats {
	switch op {
	case ir.OpNeg:
		return a.neg()
	case ir.OpSqrt:
		return a.sqrt()
	case ir.OpAdd:
		return a.add(b)
	case ir.OpSub:
		return a.add(b.neg())
	case ir.OpMul:
		return a.mul(b)
	case ir.OpDiv:
		return a.div(b)
	case ir.OpMin:
		return a.neg().max(b.neg()).neg()
	case ir.OpMax:
		return a.max(b)
	}
	return anyFloat
}

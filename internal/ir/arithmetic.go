package ir

import (
	"errors"
	"fmt"
	"math"

	"github.com/cocoon-go/cocoon/stubs"
)

// applyUnary computes OpNeg, OpFloat, OpInt and OpSqrt.
func applyUnary(n *Node, a uint64) (uint64, error) {
	word, err := exactUnary(n, a)
	switch {
	case err == nil || n.Type != stubs.Duration:
	case n.Op == OpNeg:
		return math.MaxInt64, nil
	case !math.IsNaN(math.Float64frombits(a)):
		return farthest(math.Float64frombits(a) < 0), nil
	}
	return word, err
}

// applyBinary computes the arithmetic operations. Each is one IEEE 754 operation, never fused with
// another, or one checked integer operation. Durations saturate: twice "no deadline" is still "no
// deadline".
func applyBinary(n *Node, a, b uint64) (uint64, error) {
	word, err := exactBinary(n, a, b)
	if n.Type != stubs.Duration || !errors.Is(err, ErrOverflow) {
		return word, err
	}
	switch n.Op {
	case OpMul:
		return farthest(int64(a^b) < 0), nil
	case OpDiv:
		return math.MaxInt64, nil
	}
	return farthest(int64(a) < 0), nil
}

// farthest returns the least or the greatest duration.
func farthest(least bool) uint64 {
	if least {
		return 1 << 63
	}
	return math.MaxInt64
}

// exactUnary is applyUnary, except that a result outside the range of durations is an error, too.
func exactUnary(n *Node, a uint64) (uint64, error) {
	switch {
	case n.Op == OpFloat:
		return math.Float64bits(float64(int64(a))), nil
	case n.Op == OpSqrt:
		return math.Float64bits(math.Sqrt(math.Float64frombits(a))), nil
	case n.Op == OpInt:
		i, err := checkedInt(math.Float64frombits(a))
		return at(n, i, err)
	case n.Type == stubs.Float:
		return math.Float64bits(-math.Float64frombits(a)), nil
	default:
		i, err := checkedSub(0, int64(a))
		return at(n, i, err)
	}
}

// exactBinary is applyBinary, except that a result outside the range of durations is an error, too.
func exactBinary(n *Node, a, b uint64) (uint64, error) {
	if n.Type == stubs.Float {
		return floatBinary(n.Op, math.Float64frombits(a), math.Float64frombits(b))
	}
	var i int64
	var err error
	switch n.Op {
	case OpAdd:
		i, err = checkedAdd(int64(a), int64(b))
	case OpSub:
		i, err = checkedSub(int64(a), int64(b))
	case OpMul:
		i, err = checkedMul(int64(a), int64(b))
	case OpDiv:
		i, err = checkedDiv(int64(a), int64(b))
	case OpMod:
		i, err = checkedMod(int64(a), int64(b))
	case OpMix:
		i = int64(Mix(a, b))
	default:
		return 0, unknown(n.Op)
	}
	return at(n, i, err)
}

func floatBinary(op Op, a, b float64) (uint64, error) {
	switch op {
	case OpAdd:
		return math.Float64bits(a + b), nil
	case OpSub:
		return math.Float64bits(a - b), nil
	case OpMul:
		return math.Float64bits(a * b), nil
	case OpDiv:
		return math.Float64bits(a / b), nil
	case OpMin:
		return math.Float64bits(min(a, b)), nil
	case OpMax:
		return math.Float64bits(max(a, b)), nil
	}
	return 0, unknown(op)
}

// Compare computes the comparisons. Floats compare as in IEEE 754: NaN is unequal to everything and
// unordered.
func Compare(op Op, t stubs.Type, a, b uint64) bool {
	if t == stubs.Float {
		return ordered(op, math.Float64frombits(a), math.Float64frombits(b))
	}
	return ordered(op, int64(a), int64(b))
}

func ordered[T int64 | float64](op Op, a, b T) bool {
	switch op {
	case OpEq:
		return a == b
	case OpNe:
		return a != b
	case OpLt:
		return a < b
	case OpLe:
		return a <= b
	case OpGt:
		return a > b
	default:
		return a >= b
	}
}

// at adds the position of n to the error of a checked operation.
func at(n *Node, i int64, err error) (uint64, error) {
	if err != nil {
		return 0, &EvalError{Pos: n.Pos, Err: err}
	}
	return uint64(i), nil
}

func unknown(op Op) error {
	return fmt.Errorf("operation %d is not known here: the program is ill-formed", op)
}

// HasUnit reports whether t has a dimension.
func HasUnit(t stubs.Type) bool { return t == stubs.Duration || t == stubs.Bytes }

package ir

import (
	"errors"
	"math"

	"github.com/cocoon-go/cocoon/stubs"
)

var errNotFinite = errors.New("no finite number")

// Fold computes arithmetic, comparisons and conversions of constants with the arithmetic of the
// interpreter, except that a result outside the range of durations is an error. It reports false
// for everything else: conditions stay, so that the verifier can report unreachable code.
func Fold(n *Node) (word uint64, ok bool, err error) {
	if n.A.Op != OpConst || n.B != nil && n.B.Op != OpConst {
		return 0, false, nil
	}
	a, b := n.A.Imm, uint64(0)
	if n.B != nil {
		b = n.B.Imm
	}
	switch n.Op {
	case OpNot:
		return 1 - a, true, nil
	case OpRetype:
		return a, true, nil
	case OpEq, OpNe, OpLt, OpLe, OpGt, OpGe:
		return stubs.FromBool(Compare(n.Op, n.A.Type, a, b)), true, nil
	case OpNeg, OpFloat, OpInt, OpSqrt:
		word, err = exactUnary(n, a)
	default:
		word, err = exactBinary(n, a, b)
	}
	if err == nil && n.Type == stubs.Float {
		err = checkFinite(n, word, b)
	}
	return word, err == nil, err
}

// checkFinite refuses infinite and NaN constants.
func checkFinite(n *Node, word, divisor uint64) error {
	f := math.Float64frombits(word)
	switch {
	case n.Op == OpDiv && math.Float64frombits(divisor) == 0:
		return ErrDivideByZero
	case math.IsInf(f, 0) || math.IsNaN(f):
		return errNotFinite
	}
	return nil
}

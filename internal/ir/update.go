package ir

import (
	"math"

	"github.com/cocoon-go/cocoon/stubs"
)

// Update returns the new word of a state after the effect of site s with the given operand. was is
// the state's current word; for a bucket, the number of its tokens. Update defines the meaning of
// set, add, max, min and take: the operand is computed from the values before the evaluation, and
// the state may have changed since. An error is an error of the evaluation, which then changes
// nothing.
func (s Site) Update(was, operand uint64) (word uint64, err error) {
	n := &Node{Type: s.Type, Pos: s.Pos}
	switch s.Effect {
	case stubs.Add:
		n.Op = OpAdd
		if word, err = applyBinary(n, was, operand); err != nil {
			return 0, err
		}
		return word, s.checkNumber(word)
	case stubs.Max:
		if Compare(OpLt, s.Type, was, operand) {
			return operand, nil
		}
		return was, nil
	case stubs.Min:
		if Compare(OpGt, s.Type, was, operand) {
			return operand, nil
		}
		return was, nil
	case stubs.Take:
		return math.Float64bits(max(0, math.Float64frombits(was)-math.Float64frombits(operand))), nil
	}
	return operand, nil
}

// checkNumber refuses NaN as the value of a state.
func (s Site) checkNumber(word uint64) error {
	if s.Type == stubs.Float && math.IsNaN(math.Float64frombits(word)) {
		return &EvalError{Pos: s.Pos, Err: ErrNotANumber}
	}
	return nil
}

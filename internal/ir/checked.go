package ir

import (
	"errors"
	"fmt"
	"math"
)

// The errors of evaluations. Both evaluators wrap them in an *EvalError; match them with errors.Is.
var (
	ErrOverflow     = errors.New("integer overflow")
	ErrDivideByZero = errors.New("division by zero")
	ErrConversion   = errors.New("number out of the range of integers")
	ErrNotANumber   = errors.New("not a number (NaN) as the value of a state")
	ErrTokens       = errors.New("not a number of tokens (NaN, or below 0)")
)

// EvalError is an error of an evaluation, with its position in the policy's text.
type EvalError struct {
	Pos int   // byte offset of the operation in the program's text
	Err error // ErrOverflow, ErrDivideByZero, ErrConversion, ErrNotANumber or ErrTokens
}

func (e *EvalError) Error() string { return fmt.Sprintf("offset %d: %v", e.Pos, e.Err) }

// Unwrap returns Err.
func (e *EvalError) Unwrap() error { return e.Err }

// Located returns an error of an evaluation with its line and column in the program's text, as an
// *Error; other errors as they are.
func (p *Program) Located(err error) error {
	var e *EvalError
	if !errors.As(err, &e) {
		return err
	}
	return NewError(p.Text, e.Pos, e.Pos+1, "", e.Err.Error())
}

// checkedAdd returns a+b, or ErrOverflow.
func checkedAdd(a, b int64) (int64, error) {
	c := a + b
	if (c > a) != (b > 0) {
		return 0, ErrOverflow
	}
	return c, nil
}

// checkedSub returns a-b, or ErrOverflow.
func checkedSub(a, b int64) (int64, error) {
	c := a - b
	if (c < a) != (b > 0) {
		return 0, ErrOverflow
	}
	return c, nil
}

// checkedMul returns a*b, or ErrOverflow.
func checkedMul(a, b int64) (int64, error) {
	if a == 0 || b == 0 {
		return 0, nil
	}
	c := a * b
	if c/b != a || a == math.MinInt64 && b == -1 || b == math.MinInt64 && a == -1 {
		return 0, ErrOverflow
	}
	return c, nil
}

// checkedDiv returns a/b truncated towards zero, or ErrDivideByZero or ErrOverflow.
func checkedDiv(a, b int64) (int64, error) {
	if b == 0 {
		return 0, ErrDivideByZero
	}
	if a == math.MinInt64 && b == -1 {
		return 0, ErrOverflow
	}
	return a / b, nil
}

// checkedMod returns the remainder of checkedDiv, with the sign of a; the remainder by -1 is 0 for
// every a.
func checkedMod(a, b int64) (int64, error) {
	if b == 0 {
		return 0, ErrDivideByZero
	}
	return a % b, nil
}

// checkedInt returns f truncated towards zero, or ErrConversion when f is NaN or out of range.
func checkedInt(f float64) (int64, error) {
	const limit = 1 << 63 // exact as a float64; math.MaxInt64 is not
	if f >= -limit && f < limit {
		return int64(f), nil
	}
	return 0, ErrConversion
}

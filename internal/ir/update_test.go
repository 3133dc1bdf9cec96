package ir

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/stubs"
)

// What the effects on states make of them.
func TestUpdate(t *testing.T) {
	for _, c := range []struct {
		effect           stubs.Effect
		was, by, becomes any // becomes: a value or an error
	}{
		{stubs.Set, 5, -1, -1},
		{stubs.Set, false, true, true},
		{stubs.Add, 5, -7, -2},
		{stubs.Add, math.MaxInt64, 1, ErrOverflow},
		{stubs.Add, 0.5, 0.25, 0.75},
		{stubs.Add, math.Inf(1), math.Inf(-1), ErrNotANumber},
		{stubs.Add, time.Second, -time.Minute, -59 * time.Second},
		{stubs.Max, 5, 6, 6},
		{stubs.Max, 5, 4, 5},
		{stubs.Max, -0.5, 0.5, 0.5},
		{stubs.Min, 5, 6, 5},
		{stubs.Min, 5, -6, -6},
		{stubs.Min, time.Second, time.Minute, time.Second},
	} {
		was, typ, _ := stubs.Word(c.was)
		by, _, _ := stubs.Word(c.by)
		word, err := Site{Effect: c.effect, Type: typ, Pos: 3}.Update(was, by)
		want, wrong := c.becomes.(error)
		if wrong {
			var at *EvalError
			if !errors.Is(err, want) || !errors.As(err, &at) || at.Pos != 3 {
				t.Errorf("%v of %v by %v: %v, want %v", c.effect, c.was, c.by, err, want)
			}
			continue
		}
		if exact, _, _ := stubs.Word(c.becomes); err != nil || word != exact {
			t.Errorf("%v of %v by %v is %v, %v; want %v", c.effect, c.was, c.by, stubs.Value(word, typ), err, c.becomes)
		}
	}
}

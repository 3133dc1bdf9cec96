package ir

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/stubs"
)

var edges = []int64{math.MinInt64, math.MinInt64 + 1, -1 << 62, -1<<32 - 1, -1 << 31, -3037000500, -7, -2, -1, 0, 1, 2, 7, 3037000499, 3037000500, 1 << 31,
	1 << 32, 1 << 62, math.MaxInt64 - 1, math.MaxInt64}

// TestCheckedArithmetic compares every pair of edges with integers that have no limits.
func TestCheckedArithmetic(t *testing.T) {
	for _, c := range []struct {
		name    string
		checked func(a, b int64) (int64, error)
		exact   func(z, a, b *big.Int) *big.Int
	}{
		{"add", checkedAdd, (*big.Int).Add},
		{"sub", checkedSub, (*big.Int).Sub},
		{"mul", checkedMul, (*big.Int).Mul},
		{"div", checkedDiv, (*big.Int).Quo},
		{"mod", checkedMod, (*big.Int).Rem},
	} {
		for _, a := range edges {
			for _, b := range edges {
				got, err := c.checked(a, b)
				divides := c.name == "div" || c.name == "mod"
				if divides && b == 0 {
					if err != ErrDivideByZero {
						t.Errorf("%s %d %d: got %v", c.name, a, b, err)
					}
					continue
				}
				want := c.exact(new(big.Int), big.NewInt(a), big.NewInt(b))
				if want.IsInt64() != (err == nil) || err == nil && got != want.Int64() || err != nil && err != ErrOverflow {
					t.Errorf("%s %d %d: got %d, %v, want %v", c.name, a, b, got, err, want)
				}
			}
		}
	}
}

func TestCheckedInt(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want int64
		ok   bool
	}{
		{-0.9, 0, true}, {1.9, 1, true}, {-1 << 63, math.MinInt64, true}, {math.Nextafter(1<<63, 0), math.MaxInt64 - 1023, true},
		{1 << 63, 0, false}, {math.Nextafter(-1<<63, -math.MaxFloat64), 0, false}, {math.NaN(), 0, false}, {math.Inf(1), 0, false}, {math.Inf(-1), 0, false},
	} {
		if got, err := checkedInt(c.f); got != c.want || (err == nil) != c.ok || err != nil && err != ErrConversion {
			t.Errorf("%v: got %d, %v", c.f, got, err)
		}
	}
}

func TestInterpretErrors(t *testing.T) {
	verdict := &Node{Op: OpVerdict, Type: stubs.Verdict}
	divide := &Node{Op: OpDiv, Type: stubs.Int, Pos: 12, A: &Node{Op: OpRead, Type: stubs.Int}, B: &Node{Op: OpRead, Type: stubs.Int, Index: 1}}
	p := &Program{
		Words: 2, Sites: []Site{{Type: stubs.Int}, {Type: stubs.Unit}},
		Root: &Node{Op: OpSeq, A: &Node{Op: OpEffect, Index: 1}, B: &Node{Op: OpSeq, A: &Node{Op: OpEffect, A: divide}, B: verdict}},
	}
	for _, words := range []int{0, 1, 3} {
		if _, _, err := Interpret(p, make([]uint64, words)); err == nil || !strings.Contains(err.Error(), "the program reads 2") {
			t.Errorf("a snapshot of %d words: %v", words, err)
		}
	}
	for _, c := range []struct {
		a, b uint64
		want error
	}{{7, 2, nil}, {7, 0, ErrDivideByZero}, {1 << 63, math.MaxUint64, ErrOverflow}} {
		out, steps, err := Interpret(p, []uint64{c.a, c.b})
		if !errors.Is(err, c.want) || steps == 0 || steps > Bound(p.Root) {
			t.Errorf("%d / %d: got %v after %d steps, want %v", c.a, c.b, err, steps, c.want)
		}
		if c.want == nil {
			if out.Fired != 3 || out.Values[0] != 3 {
				t.Errorf("got %v", out)
			}
			continue
		}
		var at *EvalError
		if !errors.As(err, &at) || at.Pos != 12 || !strings.HasPrefix(err.Error(), "offset 12: ") || out.Fired != 0 || out.Values != nil {
			t.Errorf("got %v, %v; want no outcome and offset 12", out, err)
		}
	}
	ill := &Program{Root: &Node{Op: OpSeq, A: &Node{Op: 99, Type: stubs.Int, A: verdict, B: verdict}, B: verdict}}
	if _, _, err := Interpret(ill, nil); err == nil || !strings.Contains(err.Error(), "ill-formed") {
		t.Errorf("an unknown operation: %v", err)
	}
}

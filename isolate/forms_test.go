package isolate

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// number is an operand or a result: a float, or an integer without bounds.
type number struct {
	whole *big.Int // nil for a float
	float float64
}

func integral(i *big.Int) number { return number{whole: i} }

func fraction(f float64) number { return number{float: f} }

func (x number) toFloat() float64 {
	if x.whole == nil {
		return x.float
	}
	return float64(x.whole.Int64())
}

// truncated is the integer that a float has without its fraction; it may be beyond 64 bits.
type truncated float64

// either computes by integers, or by floats if one of the operands is a float. With a unit the
// result has the unit.
func either(ints func(z, a, b *big.Int) *big.Int, floats func(a, b float64) float64) func(a, b number) any {
	return func(a, b number) any {
		if a.whole != nil && b.whole != nil {
			return integral(ints(new(big.Int), a.whole, b.whole))
		}
		f := floats(a.toFloat(), b.toFloat())
		if a.whole == nil && b.whole == nil {
			return fraction(f)
		}
		return truncated(f)
	}
}

// unlessZero fails for a divisor of 0 that is no float.
func unlessZero(divide func(a, b number) any) func(a, b number) any {
	return func(a, b number) any {
		if b.whole != nil && b.whole.Sign() == 0 {
			return ir.ErrDivideByZero
		}
		return divide(a, b)
	}
}

var (
	lesser  = either(func(_, a, b *big.Int) *big.Int { return [3]*big.Int{a, a, b}[a.Cmp(b)+1] }, func(a, b float64) float64 { return min(a, b) })
	greater = either(func(_, a, b *big.Int) *big.Int { return [3]*big.Int{b, a, a}[a.Cmp(b)+1] }, func(a, b float64) float64 { return max(a, b) })
)

// forms are all arithmetic forms of the language, with the meaning that mathematics gives them. $a
// and $b are stubs of each pair of types: int, duration, float and bytes.
var forms = []struct {
	text, types string
	meaning     func(a, b number) any
}{
	{"$a + $b", "ii dd ff bb", either((*big.Int).Add, func(a, b float64) float64 { return a + b })},
	{"$a - $b", "ii dd ff bb", either((*big.Int).Sub, func(a, b float64) float64 { return a - b })},
	{"$a * $b", "ii ff di id df fd bi ib bf fb", either((*big.Int).Mul, func(a, b float64) float64 { return a * b })},
	{"$a / $b", "ii ff di df bi bf", unlessZero(either((*big.Int).Quo, func(a, b float64) float64 { return a / b }))},
	{"$a / $b", "dd bb", func(a, b number) any { return fraction(a.toFloat() / b.toFloat()) }},
	{"$a % $b", "ii dd bb", unlessZero(either((*big.Int).Rem, nil))},
	{"-$a", "ii dd ff bb", func(a, _ number) any {
		if a.whole == nil {
			return fraction(-a.float)
		}
		return integral(new(big.Int).Neg(a.whole))
	}},
	{"abs($a)", "ii dd ff bb", func(a, _ number) any {
		if a.whole == nil {
			return fraction(math.Abs(a.float))
		}
		return integral(new(big.Int).Abs(a.whole))
	}},
	{"+$a", "ii dd ff bb", func(a, _ number) any { return a }},
	{"min($a, $b)", "ii dd ff bb", lesser},
	{"max($a, $b)", "ii dd ff bb", greater},
	{"clamp($a, $b, $b)", "ii dd bb", func(_, b number) any { return b }},
	{"float($a)", "ii ff", func(a, _ number) any { return fraction(a.toFloat()) }},
	{"int($a)", "ff", func(a, _ number) any { return truncated(a.float) }},
	{"int($a)", "ii", func(a, _ number) any { return a }},
	{"sqrt($a)", "ff", func(a, _ number) any { return fraction(math.Sqrt(a.float)) }},
}

// operands are stubs of each type. The runtime has one of type bytes; here it differs from itself
// without its sign.
var operands = map[byte][2]string{
	'i': {"state.i", "queue.length"}, 'd': {"state.d", "task.running"}, 'f': {"state.f", "loop.rate"}, 'b': {"runtime.heap", `max(runtime.heap, bytes("0B"))`},
}

// TestFormsAtBounds evaluates each arithmetic form with stubs at the bounds of 64 bits, at 0, at
// infinity and NaN, and compares every evaluator with mathematics.
func TestFormsAtBounds(t *testing.T) {
	stores := engines(t)
	values, failures := 0, 0
	for _, form := range forms {
		for _, types := range strings.Fields(form.types) {
			names := [2]string{operands[types[0]][0], operands[types[1]][0]}
			if types[0] == types[1] {
				names[1] = operands[types[0]][1]
			}
			text := strings.NewReplacer("$a", names[0], "$b", names[1]).Replace(form.text)
			p, err := lang.Parse(`rank(`+text+`)`, textEnvs[0])
			if err != nil { // a float is no rank
				p, err = lang.Parse(`set("f", `+text+`)`, textEnvs[0])
			}
			if err != nil {
				t.Fatal(err)
			}
			snapshots, want := atBounds(p, types, names, form.meaning)
			for i, got := range agree(t, stores, p, snapshots...) {
				if !strings.Contains(got, want[i]) {
					t.Errorf("%s with %#x: got %s, want %s", text, snapshots[i], got, want[i])
				}
				if strings.HasPrefix(got, "continue") {
					values++
				} else {
					failures++
				}
			}
		}
	}
	if values < 5000 || failures < 1000 {
		t.Errorf("%d evaluations have a value, and %d fail", values, failures)
	}
}

// atBounds returns snapshots with all pairs of extremes of the types, and the outcomes of a form.
func atBounds(p *ir.Program, types string, names [2]string, meaning func(a, b number) any) (snapshots [][]uint64, want []string) {
	for _, a := range extremes[typeOf(types[0])] {
		for _, b := range extremes[typeOf(types[1])] {
			s := make([]uint64, p.Words)
			for _, r := range p.Reads {
				s[r.Offset] = map[bool]uint64{true: a, false: b}[r.String() == names[0]]
			}
			one, two := numberOf(types[0], a), numberOf(types[1], b)
			if types == "bb" {
				two = greater(one, integral(new(big.Int))).(number)
			}
			snapshots = append(snapshots, s)
			want = append(want, outcome(meaning(one, two), p.Sites[0].Type))
		}
	}
	return snapshots, want
}

func typeOf(letter byte) stubs.Type {
	if letter == 'f' {
		return stubs.Float
	}
	return stubs.Int
}

func numberOf(letter byte, word uint64) number {
	if letter == 'f' {
		return fraction(math.Float64frombits(word))
	}
	return integral(big.NewInt(int64(word)))
}

// outcome is the result of an evaluation whose effect has the value, as agree writes it. What a
// duration cannot hold is the greatest or the least one; other types fail.
func outcome(value any, result stubs.Type) string {
	tooMuch := ir.ErrOverflow
	switch v := value.(type) {
	case error:
		return v.Error()
	case truncated:
		f := float64(v)
		if math.IsNaN(f) {
			return ir.ErrConversion.Error()
		}
		tooMuch = ir.ErrConversion
		i, _ := big.NewFloat(min(max(f, -1e19), 1e19)).Int(nil)
		value = integral(i)
	case number:
		if v.whole == nil && math.IsNaN(v.float) {
			return ir.ErrNotANumber.Error()
		}
	}
	n := value.(number)
	if n.whole == nil {
		return fmt.Sprintf("continue 0 1 0:%#x", math.Float64bits(n.float))
	}
	if !n.whole.IsInt64() && result != stubs.Duration {
		return tooMuch.Error()
	}
	i := n.whole.Int64()
	if !n.whole.IsInt64() {
		i = map[int]int64{1: math.MaxInt64, -1: math.MinInt64}[n.whole.Sign()]
	}
	return fmt.Sprintf("continue 0 1 0:%#x", uint64(i))
}

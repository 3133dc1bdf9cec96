package analyzer

import (
	"errors"
	"math"
	"testing"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// Every operation on sets is checked with every pair of members from these, which are the ends and
// the neighbours of what goes wrong.
var (
	sampleInts   = []int64{math.MinInt64, math.MinInt64 + 1, -3, -2, -1, 0, 1, 2, 3, 1<<53 + 1, math.MaxInt64}
	sampleFloats = []float64{math.Inf(-1), -1 << 63, -1, -5e-324, math.Copysign(0, -1), 0.5, 3, math.MaxFloat64, math.Inf(1), math.NaN()}
)

func sampleValues(t stubs.Type) (sets []value, words []uint64) {
	if t == stubs.Float {
		for i, lo := range sampleFloats {
			words = append(words, math.Float64bits(lo))
			for _, hi := range sampleFloats[i:] {
				if !math.IsNaN(hi) && !math.IsNaN(lo) {
					set := floats{lo: lo, hi: hi}
					sets = append(sets, floatValue(set), floatValue(set.without(0)), floatValue(floats{lo: lo, hi: hi, nan: true}))
				}
			}
		}
		return append(sets, floatValue(noFloats(true))), words
	}
	for i, lo := range sampleInts {
		words = append(words, uint64(lo))
		for _, hi := range sampleInts[i:] {
			set := interval{lo: lo, hi: hi}
			sets = append(sets, intValue(t, set), intValue(t, set.without(0)))
		}
	}
	return sets, words
}

// compute runs one operation of the reference interpreter.
func compute(op ir.Op, of, operand stubs.Type, a, b uint64) (uint64, bool) {
	p := &ir.Program{Locals: []stubs.Type{of}, Sites: []ir.Site{{Effect: stubs.Set, Type: of}}, Reasons: nil}
	n := operation(op, of, literal(operand, a), literal(operand, b))
	effect := operation(ir.OpEffect, stubs.Unit, n)
	p.Root = operation(ir.OpSeq, stubs.Verdict, effect, operation(ir.OpVerdict, stubs.Verdict))
	out, _, err := ir.Interpret(p, nil)
	if errors.Is(err, ir.ErrNotANumber) {
		return math.Float64bits(math.NaN()), true
	}
	if err != nil {
		return 0, false
	}
	return out.Values[0], true
}

func TestOperations(t *testing.T) {
	comparisons := []ir.Op{ir.OpEq, ir.OpNe, ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe}
	arithmetic := []ir.Op{ir.OpNeg, ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpDiv}
	for _, operand := range []stubs.Type{stubs.Int, stubs.Duration, stubs.Float} {
		for _, op := range comparisons {
			checkOperation(t, op, stubs.Bool, operand)
		}
		for _, op := range arithmetic {
			checkOperation(t, op, operand, operand)
		}
	}
	checkOperation(t, ir.OpMod, stubs.Int, stubs.Int)
	checkOperation(t, ir.OpFloat, stubs.Float, stubs.Int)
	checkOperation(t, ir.OpInt, stubs.Int, stubs.Float)
	checkOperation(t, ir.OpInt, stubs.Duration, stubs.Float)
	checkOperation(t, ir.OpMin, stubs.Float, stubs.Float)
	checkOperation(t, ir.OpMax, stubs.Float, stubs.Float)
}

// checkOperation checks that the result of members is a member of the result, and that what never
// works does not; of durations never says that all come to the farthest.
func checkOperation(t *testing.T, op ir.Op, of, operand stubs.Type) {
	t.Helper()
	sets, words := sampleValues(operand)
	type result struct {
		word uint64
		ok   bool
	}
	results := make([][]result, len(words))
	for i, a := range words {
		for _, b := range words {
			r, ok := compute(op, of, operand, a, b)
			results[i] = append(results[i], result{r, ok})
		}
	}
	members := make([][]int, len(sets)) // by set: indexes of words
	for i, set := range sets {
		for j, w := range words {
			if set.has(w) {
				members[i] = append(members[i], j)
			}
		}
	}
	for i, x := range sets {
		for j, y := range sets {
			v, never := apply(op, of, x, y)
			for _, a := range members[i] {
				for _, b := range members[j] {
					if r := results[a][b]; r.ok && (never && of != stubs.Duration || !v.has(r.word)) {
						t.Fatalf("%s of %v in %+v and %v in %+v is %v, not in %+v (never: %v)", opNames[op], stubs.Value(words[a], operand), x,
							stubs.Value(words[b], operand), y, stubs.Value(r.word, of), v, never)
					}
				}
			}
		}
	}
}

// A float that may be NaN has bounds beside that.
func TestBoundsWithNaN(t *testing.T) {
	nan := func(lo, hi float64) floats { return floats{lo: lo, hi: hi, nan: true} }
	most := math.Inf(1)
	for _, c := range []struct {
		what      string
		got, want floats
	}{
		{"the greater of 1 and anything", exactlyFloat(1).max(anyFloat), nan(1, most)},
		{"a share by something without a bound", floats{lo: 0, hi: 1}.mul(floats{lo: 0, hi: most}), nan(0, most)},
		{"one without a bound by another", floats{lo: 0, hi: most}.div(floats{lo: 1, hi: most}), nan(0, most)},
		{"by what is not zero", exactlyFloat(1).div(anyFloat.numbers().without(0)), floats{lo: -most, hi: most}},
	} {
		if c.got != c.want {
			t.Errorf("%s is %+v, want %+v", c.what, c.got, c.want)
		}
	}
}

// Meet keeps what is in both sets, join what is in one of them.
func TestMeetJoin(t *testing.T) {
	for _, of := range []stubs.Type{stubs.Int, stubs.Float} {
		sets, words := sampleValues(of)
		for _, x := range sets {
			for _, y := range sets {
				meet, join := x.meet(y), x.join(y)
				for _, w := range words {
					if x.has(w) && y.has(w) != meet.has(w) || x.has(w) && !join.has(w) {
						t.Fatalf("%v: %+v and %+v: meet %+v, join %+v", stubs.Value(w, of), x, y, meet, join)
					}
				}
			}
		}
	}
}

// A value has a word if it meets the set of that word alone.
func TestHas(t *testing.T) {
	names := []stubs.NameID{0, 1, 2, 3, 4}
	check := func(sets []value, words []uint64) {
		for _, set := range sets {
			for _, w := range words {
				if got, want := set.has(w), !set.meet(constant(set.of, w)).empty(); got != want {
					t.Errorf("%+v has %v: %v, want %v", set, stubs.Value(w, set.of), got, want)
				}
			}
		}
	}
	for _, of := range []stubs.Type{stubs.Int, stubs.Duration, stubs.Float} {
		check(sampleValues(of))
	}
	check([]value{boolValue(truth{}), known(true), known(false), anyOf(stubs.Bool)}, []uint64{0, 1})
	for _, s := range []nameSet{anyName, {}, exactName(1), exactName(1).join(exactName(3)), exactName(2).complement()} {
		for _, id := range names {
			check([]value{nameValue(s)}, []uint64{uint64(id)})
		}
	}
	// The runtime asks for each arriving task.
	f := Fixed{values: nameValue(exactName(1).join(exactName(3)))}
	if n := testing.AllocsPerRun(100, func() { f.Allows(3) }); n != 0 {
		t.Errorf("Allows allocates %v times", n)
	}
}

func TestNameSet(t *testing.T) {
	sets := []nameSet{anyName, {}, exactName(1), exactName(2), exactName(1).join(exactName(3)), exactName(2).complement(),
		exactName(1).join(exactName(2)).complement()}
	for _, x := range sets {
		for _, y := range sets {
			meet, join := x.meet(y), x.join(y)
			for id := stubs.NameID(0); id < 5; id++ {
				if (x.has(id) && y.has(id)) != meet.has(id) || (x.has(id) || y.has(id)) != join.has(id) {
					t.Errorf("%d: %+v and %+v: meet %+v, join %+v", id, x, y, meet, join)
				}
			}
		}
	}
}

package sketch

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var quantiles = []float64{1e-9, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1 - 1e-9}

// exact is a quantile of sorted values by its definition.
func exact(sorted []int64, q float64) int64 {
	if len(sorted) == 0 {
		return 0
	}
	rank := min(max(1, int(math.Ceil(q*float64(len(sorted))))), len(sorted))
	return sorted[rank-1]
}

// near reports whether the estimate is within 5 % of a value; small ones are exact.
func near(got, want int64) bool {
	want = min(max(want, 0), Max)
	return got == want || math.Abs(float64(got)-float64(want)) <= 0.05*float64(want)
}

// distributions are what the error is bounded for.
func distributions(random *rand.Rand) map[string]func() int64 {
	draws := map[string]func() int64{
		"equal":        func() int64 { return int64(100 * time.Millisecond) },
		"zeros":        func() int64 { return 0 },
		"the greatest": func() int64 { return Max },
		"beyond":       func() int64 { return math.MaxInt64 - random.Int64N(5) },
		"negative":     func() int64 { return -random.Int64() },
		"all there is": func() int64 { return int64(random.Uint64()) >> random.IntN(64) },
		"two values":   func() int64 { return []int64{1, 1 << 62}[random.IntN(2)] },
		"small":        func() int64 { return random.Int64N(40) },
		"uniform":      func() int64 { return random.Int64N(int64(time.Second)) },
		"exponential":  func() int64 { return int64(random.ExpFloat64() * float64(time.Millisecond)) },
		"normal":       func() int64 { return int64(1e7 + 1e6*random.NormFloat64()) },
		"log-normal":   func() int64 { return int64(math.Exp(12 + 3*random.NormFloat64())) },
		"Pareto":       func() int64 { return int64(1000 * math.Pow(1-random.Float64(), -1/1.1)) },
		"mostly zeros": func() int64 { return max(0, random.Int64N(1e9)-9e8) },
		"powers of 2":  func() int64 { return 1<<random.IntN(63) - random.Int64N(2) },
		"two humps":    func() int64 { return []int64{1e3, 1e9}[random.IntN(2)] + random.Int64N(1000) },
	}
	n := int64(0)
	draws["rising"] = func() int64 { n += 1000; return n }
	return draws
}

// observed is a sketch, and all values that were added to it.
type observed struct {
	*Sketch
	all         []partValue
	now, latest int64
}

type partValue struct{ part, value int64 }

const window = int64(10 * time.Second)

func observe() *observed { return &observed{Sketch: New(window, quantiles)} }

func (o *observed) add(v int64) {
	o.latest = max(o.latest, o.now) // of the times that the sketch has seen
	o.Add(o.now, v)
	o.all = append(o.all, partValue{o.latest / (window / parts), v})
}

// check compares the estimates with the quantiles of what was added in the parts that count.
func (o *observed) check(t *testing.T, what string) {
	t.Helper()
	o.latest = max(o.latest, o.now)
	o.all = slices.DeleteFunc(o.all, func(a partValue) bool { return a.part <= o.latest/(window/parts)-parts })
	var sorted []int64
	for _, a := range o.all {
		sorted = append(sorted, a.value)
	}
	slices.Sort(sorted)
	for i, q := range quantiles {
		if got, want := o.Quantile(o.now, i), exact(sorted, q); !near(got, want) {
			t.Fatalf("%s: quantile %v of %d values is %d; want %d", what, q, len(sorted), got, want)
		}
	}
}

// TestError: the estimates are within 5 % of the quantiles, for all distributions, while time goes
// on, leaps and goes back.
func TestError(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for name, draw := range distributions(random) {
		o := observe()
		for round := range 60 {
			for range 1 + random.IntN(300) {
				o.add(draw())
				o.now += random.Int64N(int64(time.Millisecond))
			}
			switch random.IntN(5) {
			case 0:
				o.now += random.Int64N(2 * window)
			case 1:
				o.now -= random.Int64N(window)
			case 2:
				o.now = o.latest + random.Int64N(window/parts)
			}
			o.check(t, fmt.Sprintf("%s, round %d", name, round))
		}
	}
}

// FuzzError is TestError with values and times that the fuzzer makes up.
func FuzzError(f *testing.F) {
	f.Add([]byte("a value of the sketch, or a step of its clock, for each nine bytes of this text"))
	f.Fuzz(func(t *testing.T, text []byte) {
		o := observe()
		for ; len(text) >= 9; text = text[9:] {
			v := int64(binary.LittleEndian.Uint64(text[1:]))
			switch text[0] % 4 {
			case 0:
				o.now += v % (2 * window)
			case 1:
				o.check(t, "fuzzed")
			default:
				o.add(v >> (text[0] >> 2))
			}
		}
		o.check(t, "fuzzed")
	})
}

// Every duration is within a 32nd of the middle of its bucket, and buckets are in the order of what
// is in them.
func TestBuckets(t *testing.T) {
	last := -1
	for b := range bucket(Max) + 1 {
		m := middle(b)
		if bucket(m) != b || m < 0 || m > Max || b > 0 && m <= middle(b-1) {
			t.Fatalf("the middle of %d is %d, which is in %d", b, m, bucket(m))
		}
	}
	for e := range 63 {
		for _, d := range []int64{-1, 0, 1, 1 << e / 3} {
			v := int64(1)<<e + d
			m := middle(bucket(v))
			if v = min(v, Max); math.Abs(float64(m)-float64(v)) > float64(v)/32 {
				t.Errorf("%d is in the bucket of %d", v, m)
			}
			if d == 0 {
				if bucket(v) < last {
					t.Errorf("%d is in bucket %d, after %d", v, bucket(v), last)
				}
				last = bucket(v)
			}
		}
	}
}

// Time that leaps as far as it can leaves nothing, and does not take long; before zero there is no
// part.
func TestLeaps(t *testing.T) {
	for _, window := range []int64{1, 2, 10, int64(time.Hour), math.MaxInt64} {
		s := New(window, []float64{0.5})
		for _, now := range []int64{0, 5, math.MaxInt64, math.MinInt64, -1, 0} {
			s.Add(now, 7)
			if got := s.Quantile(now, 0); got != 7 {
				t.Errorf("a window of %d at %d: %d", window, now, got)
			}
		}
		if s.n > 6 {
			t.Errorf("%d values", s.n)
		}
	}
	s := New(int64(time.Second), []float64{0.5})
	s.Add(0, 7)
	if got := s.Quantile(math.MaxInt64, 0); got != 0 || s.n != 0 {
		t.Errorf("after all time: %d of %d", got, s.n)
	}
}

// What a sketch takes is bounded, whatever comes.
func TestMemory(t *testing.T) {
	s := New(int64(time.Second), quantiles)
	random := rand.New(rand.NewPCG(5, 6))
	for i := range int64(1_000_000) {
		s.Add(i*1000, int64(random.Uint64())>>random.IntN(64))
	}
	size := 8 * len(s.all.N)
	for _, p := range s.filled {
		size += 4 * len(p.N)
	}
	if size > 28<<10 {
		t.Errorf("%d bytes", size)
	}
	if got := testing.AllocsPerRun(1000, func() { s.Add(1e9, 5); s.Quantile(1e9, 3) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// A bucket that is full takes no more, and what leaves it is what came.
func TestFullBucket(t *testing.T) {
	s := New(int64(5*time.Second), []float64{0.5})
	s.Add(0, 100)
	*s.filled[0].At(bucket(100)), *s.all.At(bucket(100)), s.n = math.MaxUint32, math.MaxUint32, math.MaxUint32
	s.Add(0, 100)
	s.Add(0, 1)
	s.Add(int64(time.Second), 100)
	if got := s.Quantile(0, 0); s.n != math.MaxUint32+2 || !near(got, 100) {
		t.Errorf("%d values, %d", s.n, got)
	}
	if got := s.Quantile(int64(5*time.Second), 0); s.n != 1 || !near(got, 100) {
		t.Errorf("afterwards %d values, %d", s.n, got)
	}
}

func BenchmarkAdd(b *testing.B) {
	s := New(int64(10*time.Second), []float64{0.99})
	now := int64(0)
	for b.Loop() {
		now += 1000
		s.Add(now, now&0xfffff)
	}
}

func BenchmarkAddAndRead(b *testing.B) {
	s := New(int64(10*time.Second), []float64{0.99})
	now := int64(0)
	for b.Loop() {
		now += 1000
		s.Add(now, now&0xfffff)
		s.Quantile(now, 0)
	}
}

func ExampleSketch() {
	s := New(int64(10*time.Second), []float64{0.5, 0.99})
	for i := range int64(100) {
		s.Add(0, i*int64(time.Millisecond))
	}
	fmt.Println(time.Duration(s.Quantile(0, 0)).Round(time.Millisecond), time.Duration(s.Quantile(0, 1)).Round(time.Millisecond))
	// Output: 49ms 99ms
}

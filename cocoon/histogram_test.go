package cocoon

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"
)

func histogramOf(durations ...time.Duration) Histogram {
	var h histogram
	for _, d := range durations {
		h.add(int64(d))
	}
	return h.snapshot()
}

// Each bucket ends where Prometheus and OpenTelemetry say: at a power of 2^(1/8) seconds,
// inclusive.
func TestBuckets(t *testing.T) {
	first, last := bucketOf(1), bucketOf(math.MaxInt64)
	if first != -239 || last != 265 {
		t.Errorf("buckets from %d to %d; want -239 to 265", first, last)
	}
	const exact = 1 << 50 // 13 days: from there on float64 has no fractions of a nanosecond to compare
	for i := first; i <= last; i++ {
		bound := Histogram{}.Bound(i)
		if bound == 0 || bound >= exact {
			continue
		}
		// A bucket below 12 ns may contain no whole number of nanoseconds.
		if got := bucketOf(int64(bound)); got > i || bound > 12 && got != i {
			t.Errorf("the upper bound %d of bucket %d is in bucket %d", bound, i, got)
		}
		if got := bucketOf(int64(bound) + 1); got <= i {
			t.Errorf("the duration %d after the upper bound of bucket %d is in bucket %d", bound+1, i, got)
		}
	}
	for i, want := range map[int]time.Duration{0: time.Second, 8: 2 * time.Second, -8: time.Second / 2, 1: 1090507732, 265: math.MaxInt64} {
		if got := (Histogram{}).Bound(i); got != want {
			t.Errorf("Bound(%d) is %d; want %d", i, got, want)
		}
	}
}

func TestQuantile(t *testing.T) {
	if q := (Histogram{}).Quantile(0.5); q != 0 {
		t.Errorf("of nothing: %v", q)
	}
	h := histogramOf(0, time.Second)
	for q, want := range map[float64]time.Duration{0: 0, 0.5: 0, 0.51: time.Second, 1: time.Second} {
		if got := h.Quantile(q); got != want {
			t.Errorf("Quantile(%v) is %v; want %v", q, got, want)
		}
	}
	// of any durations, at most a tenth too much
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var all []time.Duration
		for range 1 + random.IntN(300) {
			all = append(all, time.Duration(random.Int64()>>random.IntN(64)))
		}
		h := histogramOf(all...)
		slices.Sort(all)
		for q := 0.0; q <= 1; q += 0.125 {
			exact := all[max(1, int(math.Ceil(q*float64(len(all)))))-1]
			if got := h.Quantile(q); got < exact || float64(got) > 1.1*float64(exact)+1 {
				t.Fatalf("Quantile(%v) is %d; exactly it is %d", q, got, exact)
			}
		}
		if h.Count() != int64(len(all)) {
			t.Fatalf("%d durations of %d", h.Count(), len(all))
		}
	}
}

// A histogram that has counted nothing, or only zeros, has no memory besides its few words; a full
// one has little.
func TestHistogramsAreSmall(t *testing.T) {
	if size := unsafe.Sizeof(histogram{}); size > 48 {
		t.Errorf("an empty one has %d bytes", size)
	}
	var h histogram
	if n := testing.AllocsPerRun(100, func() { h.add(0) }); n != 0 || h.counts.N != nil {
		t.Errorf("zeros cost %v allocations", n)
	}
	for d := int64(1000); d < 1e9; d += d / 16 {
		h.add(d)
	}
	if size := 8 * len(h.counts.N); size > 1500 {
		t.Errorf("from 1 µs to 1 s: %d bytes", size)
	}
	if n := testing.AllocsPerRun(100, func() { h.add(1e6) }); n != 0 {
		t.Errorf("a duration in the range costs %v allocations", n)
	}
	h.add(1)
	h.add(math.MaxInt64)
	if size := 8 * len(h.counts.N); size > 4200 {
		t.Errorf("of all durations: %d bytes", size)
	}
	// A snapshot does not change.
	before := h.snapshot()
	n := before.Count()
	if h.add(1e6); before.Count() != n {
		t.Error("a snapshot has changed")
	}
}

func BenchmarkHistogram(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var durations [1024]int64
	for i := range durations {
		durations[i] = int64(random.ExpFloat64() * 1e6)
	}
	var h histogram
	for i := 0; b.Loop(); i++ {
		h.add(durations[i%len(durations)])
	}
}

package cocoon

import (
	"math"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/sketch"
)

// HistogramScale is the scale of a Histogram: 2^HistogramScale buckets for each factor of two.
const HistogramScale = 3

// Histogram counts durations in buckets. The upper bound of bucket i is 2^(i/8) seconds, and the
// lower bound is the upper bound of bucket i-1. A bucket includes its upper bound, which is 9 %
// above its lower bound. Prometheus has the same buckets, with the same numbers, in native
// histograms of schema 3. OpenTelemetry has them in exponential histograms of scale 3, where the
// number of each bucket is less by one. So an exporter copies the counts and loses no precision.
type Histogram struct {
	Zero   int64         // durations of 0
	First  int           // the number of the bucket that Counts[0] counts
	Counts []int64       // durations by bucket; nil if all are 0
	Sum    time.Duration // of all durations; it wraps around after 292 years
}

// Bound returns the upper bound of bucket i, rounded down to a nanosecond. It returns the longest
// duration if the bound is longer.
func (Histogram) Bound(i int) time.Duration {
	ns := math.Exp2(float64(i)/(1<<HistogramScale)) * 1e9
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}

// Count returns the number of durations.
func (h Histogram) Count() int64 {
	n := h.Zero
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// Quantile returns a duration that the share q (0 to 1) of the durations do not exceed: the upper
// bound of the quantile's bucket, at most 9 % above the quantile. It returns 0 if there are no
// durations.
func (h Histogram) Quantile(q float64) time.Duration {
	left := max(1, int64(math.Ceil(q*float64(h.Count())))) - h.Zero
	if left <= 0 {
		return 0
	}
	for i, n := range h.Counts {
		if left -= n; left <= 0 {
			return h.Bound(h.First + i)
		}
	}
	return 0
}

// minus returns the counts added since before was taken.
func (h Histogram) minus(before Histogram) Histogram {
	d := Histogram{Zero: h.Zero - before.Zero, First: h.First, Sum: h.Sum - before.Sum}
	for i, n := range h.Counts {
		if at := h.First + i - before.First; at >= 0 && at < len(before.Counts) {
			n -= before.Counts[at]
		}
		d.Counts = append(d.Counts, n)
	}
	return d
}

// histogram is a Histogram that grows. Its memory covers the range of its durations: an empty one
// has none, one of durations from 1 µs to 1 s has 1.4 KB, and none has more than 4.1 KB.
type histogram struct {
	zero   int64
	counts sketch.Counts[int64]
	sum    time.Duration
}

// add counts a duration, in ns. It takes 6 ns (BenchmarkHistogram).
func (h *histogram) add(ns int64) {
	if ns <= 0 {
		h.zero++
		return
	}
	*h.counts.At(bucketOf(ns))++
	h.sum += time.Duration(ns)
}

// snapshot returns a copy.
func (h *histogram) snapshot() Histogram {
	return Histogram{Zero: h.zero, First: h.counts.Low, Counts: slices.Clone(h.counts.N), Sum: h.sum}
}

// fractions are the upper bounds of the buckets between 1/2 and 1 s, without the last.
var fractions = func() (s [1 << HistogramScale]float64) {
	for i := range s {
		s[i] = math.Exp2(float64(i)/float64(len(s))) / 2
	}
	return s
}()

// bucketOf returns the bucket of a duration of at least 1 ns. It needs no logarithm: the exponent
// of the seconds as a floating-point number gives the power of two, and the fraction is compared
// with these upper bounds.
func bucketOf(ns int64) int {
	const fraction = 52 // bits
	b := math.Float64bits(float64(ns) / 1e9)
	exponent := int(b>>fraction) - 1022 // so that the fraction is from 1/2 to 1
	f := math.Float64frombits(b&(1<<fraction-1) | 1022<<fraction)
	i := (exponent - 1) << HistogramScale
	for _, s := range fractions {
		if f <= s {
			break
		}
		i++
	}
	return i
}

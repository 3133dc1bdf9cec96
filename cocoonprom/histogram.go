package cocoonprom

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/metrics"
)

// histogram is a metric with two representations of the same durations: the buckets of a native
// histogram, which are the runtime's own, and classic buckets for a Prometheus that does not ask
// for native ones. The package prometheus makes constant histograms of one kind or the other.
type histogram struct {
	desc      *prometheus.Desc
	labels    []*dto.LabelPair
	durations cocoon.Histogram
}

// The classic buckets end at powers of two, from 8 µs to 32 s. Native buckets end there too, so the
// classic counts are exact.
const firstClassic, lastClassic = -17, 5

// Desc returns the description of the metric.
func (m *histogram) Desc() *prometheus.Desc { return m.desc }

// Write writes both representations.
func (m *histogram) Write(out *dto.Metric) error {
	d := m.durations
	h := &dto.Histogram{
		SampleCount:   ptr(uint64(d.Count())),
		SampleSum:     ptr(metrics.Seconds(d.Sum)),
		Schema:        ptr(int32(cocoon.HistogramScale)),
		ZeroThreshold: ptr(prometheus.DefNativeHistogramZeroThreshold),
		ZeroCount:     ptr(uint64(d.Zero)),
	}
	h.PositiveSpan, h.PositiveDelta = native(d)
	h.Bucket = classic(d)
	out.Label, out.Histogram = m.labels, h
	return nil
}

// native returns the nonzero buckets: spans of buckets that follow each other, and the difference
// of each count to the one before it.
func native(d cocoon.Histogram) (spans []*dto.BucketSpan, deltas []int64) {
	next, last := 0, int64(0) // the bucket after the last span, and its last count
	for i, n := range d.Counts {
		if n == 0 {
			continue
		}
		b := d.First + i
		if len(spans) == 0 || b != next {
			spans = append(spans, &dto.BucketSpan{Offset: ptr(int32(b - next)), Length: ptr(uint32(0))})
		}
		*spans[len(spans)-1].Length++
		deltas = append(deltas, n-last)
		next, last = b+1, n
	}
	return spans, deltas
}

// classic returns the cumulative counts of the classic buckets, without the last one of all
// durations.
func classic(d cocoon.Histogram) (buckets []*dto.Bucket) {
	sum, i := d.Zero, 0
	for power := firstClassic; power <= lastClassic; power++ {
		for end := power<<cocoon.HistogramScale - d.First; i < len(d.Counts) && i <= end; i++ {
			sum += d.Counts[i]
		}
		buckets = append(buckets, &dto.Bucket{UpperBound: ptr(math.Ldexp(1, power)), CumulativeCount: ptr(uint64(sum))})
	}
	return buckets
}

func ptr[T any](v T) *T { return &v }

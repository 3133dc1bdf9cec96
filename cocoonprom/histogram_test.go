package cocoonprom

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// written returns what a metric writes.
func written(t *testing.T, h cocoon.Histogram) *dto.Metric {
	t.Helper()
	out := &dto.Metric{}
	desc := prometheus.NewDesc("waits_seconds", "Waits.", nil, nil)
	tasktest.Must(t, (&histogram{desc: desc, durations: h}).Write(out))
	return out
}

// The native histogram is the one that Prometheus' own client makes of the same durations, and the
// classic one has its counts.
func TestHistogramIsThatOfPrometheus(t *testing.T) {
	var bounds []float64
	for _, b := range classic(cocoon.Histogram{}) {
		bounds = append(bounds, b.GetUpperBound())
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		own := prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "waits_seconds", Help: "Waits.", Buckets: bounds, NativeHistogramBucketFactor: 1.1,
		})
		var all []time.Duration
		for range random.IntN(300) {
			d := time.Duration(random.Int64N(int64(time.Hour)) >> random.IntN(43))
			if random.IntN(10) == 0 {
				d = time.Duration(1<<random.IntN(6)) * time.Second / (1 << 20) << random.IntN(15)
			}
			all = append(all, d)
			own.Observe(d.Seconds())
		}
		want, got := &dto.Metric{}, written(t, tasktest.Histogram(all))
		tasktest.Must(t, own.Write(want))
		w, g := want.Histogram, got.Histogram
		if g.GetSampleCount() != w.GetSampleCount() || g.GetZeroCount() != w.GetZeroCount() || g.GetZeroThreshold() != w.GetZeroThreshold() || g.GetSchema() != w.GetSchema() {
			t.Fatalf("got %v; want %v", g, w)
		}
		if g, w := spread(g), spread(w); !slices.Equal(g, w) {
			t.Fatalf("native buckets %v; want %v", g, w)
		}
		for i, b := range w.Bucket {
			if c := g.Bucket[i]; c.GetUpperBound() != b.GetUpperBound() || c.GetCumulativeCount() != b.GetCumulativeCount() {
				t.Fatalf("classic bucket %v; want %v", c, b)
			}
		}
	}
}

// spread returns the numbers of the native buckets, each followed by its count.
func spread(h *dto.Histogram) (all []int64) {
	bucket, count, next := int64(0), int64(0), 0
	for _, s := range h.PositiveSpan {
		bucket += int64(s.GetOffset())
		for range s.GetLength() {
			if count += h.PositiveDelta[next]; count != 0 {
				all = append(all, bucket, count)
			}
			next++
			bucket++
		}
	}
	return all
}

// An empty histogram is a native one, too, and text has the classic one.
func TestEmptyHistogram(t *testing.T) {
	m := written(t, cocoon.Histogram{})
	if h := m.Histogram; h.GetZeroThreshold() == 0 || h.GetSampleCount() != 0 {
		t.Errorf("Prometheus takes it for a classic one: %v", h)
	}
	m = written(t, tasktest.Histogram([]time.Duration{0, time.Millisecond, time.Minute}))
	var text bytes.Buffer
	name := "waits_seconds"
	_, err := expfmt.MetricFamilyToText(&text, &dto.MetricFamily{Name: &name, Type: dto.MetricType_HISTOGRAM.Enum(), Metric: []*dto.Metric{m}})
	tasktest.Must(t, err)
	for _, line := range []string{`{le="7.62939453125e-06"} 1`, `{le="0.0009765625"} 1`, `{le="0.001953125"} 2`, `{le="32"} 2`, `{le="+Inf"} 3`, "_sum 60.001", "_count 3"} {
		if !strings.Contains(text.String(), line+"\n") {
			t.Errorf("the text lacks %s:\n%s", line, text.String())
		}
	}
}

package cocoonotel

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/metrics"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// numbers returns the data points of a sum or a gauge, and whether it is a sum that only grows.
func numbers(t testing.TB, m metricdata.Metrics) (points []metricdata.DataPoint[float64], counter bool) {
	t.Helper()
	switch d := m.Data.(type) {
	case metricdata.Sum[float64]:
		return d.DataPoints, d.IsMonotonic
	case metricdata.Gauge[float64]:
		return d.DataPoints, false
	}
	t.Fatalf("%s is a %T", m.Name, m.Data)
	return nil, false
}

// All metrics arrive, with their units, kinds, attributes and values.
func TestMetrics(t *testing.T) {
	rt := started(t, cocoon.Config{Slots: 1})
	own := attribute.String("service", "shop")
	reader := sdkmetric.NewManualReader(sdkmetric.WithProducer(NewProducer(rt, own)))
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	stop, err := Instrument(rt, provider, nil, own)
	tasktest.Must(t, err)
	ctx := cocoon.WithLabel(context.Background(), "tenant", "gold")
	for range 7 {
		tasktest.Must(t, rt.Run(ctx, "get", nothing))
		rt.Run(ctx, "unwanted", nothing)
		rt.Run(ctx, "endless", tasktest.Spin)
	}
	all := collected(t, reader)
	for _, f := range metrics.All {
		m, ok := all[f.Name]
		if !ok || m.Unit != f.Unit || m.Description != f.Help {
			t.Errorf("%s: %+v", f.Name, m)
		}
		delete(all, f.Name)
		if f.Kind == metrics.Distribution {
			if d, ok := m.Data.(metricdata.ExponentialHistogram[float64]); !ok || d.Temporality != metricdata.CumulativeTemporality {
				t.Errorf("%s: %+v", f.Name, m.Data)
			}
			continue
		}
		points, counter := numbers(t, m)
		if counter != (f.Kind == metrics.Counter) {
			t.Errorf("%s: a counter is %t", f.Name, counter)
		}
		for _, p := range points {
			if v, ok := p.Attributes.Value("service"); !ok || v.AsString() != "shop" || p.Attributes.Len() != 1+len(f.Labels) {
				t.Errorf("%s: %v", f.Name, p.Attributes)
			}
		}
	}
	if len(all) != 0 {
		t.Errorf("metrics of which no list knows: %v", all)
	}
	points, _ := numbers(t, collected(t, reader)["cocoon.policy.decisions"])
	i := slices.IndexFunc(points, func(p metricdata.DataPoint[float64]) bool {
		policy, _ := p.Attributes.Value("cocoon.policy")
		decision, _ := p.Attributes.Value("cocoon.decision")
		return policy.AsString() == "shed" && decision.AsString() == "refuse"
	})
	if i < 0 || points[i].Value != 7 {
		t.Errorf("refusals: %v", points)
	}
	h := collected(t, reader)["cocoon.loop.queue.wait"].Data.(metricdata.ExponentialHistogram[float64]).DataPoints[0]
	if st := rt.Stats(); h.Count != uint64(st.Loops[0].Queueing.Count()) || !h.StartTime.Equal(st.Started) || time.Since(st.Started) > time.Hour {
		t.Errorf("%+v", h)
	}
	tasktest.Must(t, stop())
	tasktest.Must(t, stop())
	if m := collected(t, reader); len(m) != 2 { // the producer's
		t.Errorf("after stop: %v", m)
	}
}

// A data point equals what the SDK makes of the same durations.
func TestHistogramIsThatOfTheSDK(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		reader := sdkmetric.NewManualReader()
		provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithView(sdkmetric.NewView(
			sdkmetric.Instrument{Name: "waits"},
			sdkmetric.Stream{Aggregation: sdkmetric.AggregationBase2ExponentialHistogram{MaxSize: 512, MaxScale: cocoon.HistogramScale}})))
		own, err := provider.Meter(scope).Float64Histogram("waits", metric.WithUnit("s"))
		tasktest.Must(t, err)
		var all []time.Duration
		for range 1 + random.IntN(300) {
			d := time.Duration(random.Int64N(int64(time.Hour)) >> random.IntN(43))
			own.Record(context.Background(), d.Seconds())
			all = append(all, d)
		}
		h := tasktest.Histogram(all)
		want := collected(t, reader)["waits"].Data.(metricdata.ExponentialHistogram[float64]).DataPoints[0]
		got := point(metrics.Value{Durations: h}, attribute.Set{}, time.Time{}, time.Time{})
		if got.Count != want.Count || got.ZeroCount != want.ZeroCount || got.ZeroThreshold != want.ZeroThreshold {
			t.Fatalf("got %+v; want %+v", got, want)
		}
		if want.Scale != got.Scale && len(want.PositiveBucket.Counts) > 1 {
			t.Fatalf("the SDK has the scale %d", want.Scale)
		}
		if g, w := spread(got.PositiveBucket), spread(want.PositiveBucket); want.Scale == got.Scale && !slices.Equal(g, w) {
			t.Fatalf("buckets %v; want %v", g, w)
		}
	}
}

// spread returns the numbers of the buckets with values, each followed by its count.
func spread(b metricdata.ExponentialBucket) (all []int64) {
	for i, n := range b.Counts {
		if n != 0 {
			all = append(all, int64(b.Offset)+int64(i), int64(n))
		}
	}
	return all
}

// Runtimes that would mix up their metrics are refused.
func TestTwoRuntimes(t *testing.T) {
	one, two := tasktest.Start(t, cocoon.Config{Slots: 1}), tasktest.Start(t, cocoon.Config{Slots: 2})
	reader := sdkmetric.NewManualReader()
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	stop, err := Instrument(one, provider, nil)
	tasktest.Must(t, err)
	for what, rt := range map[string]*cocoon.Runtime{"the same": one, "another": two} {
		if _, err := Instrument(rt, provider, nil); !errors.Is(err, cocoon.ErrDuplicate) {
			t.Errorf("%s runtime: got %v", what, err)
		}
	}
	other, err := Instrument(two, provider, nil, attribute.String("runtime", "two"))
	tasktest.Must(t, err)
	points, _ := numbers(t, collected(t, reader)["cocoon.loop.slots"])
	if len(points) != 2 || points[0].Value+points[1].Value != 3 {
		t.Errorf("%+v", points)
	}
	tasktest.Must(t, stop())
	again, err := Instrument(one, provider, nil)
	tasktest.Must(t, err)
	tasktest.Must(t, stop()) // and it does not free what it does not own
	if _, err := Instrument(two, provider, nil); !errors.Is(err, cocoon.ErrDuplicate) {
		t.Errorf("after a second stop: got %v", err)
	}
	tasktest.Must(t, again())
	tasktest.Must(t, other())
	for what, call := range map[string]func(){
		"Instrument": func() { Instrument(nil, provider, nil) }, "NewProducer": func() { NewProducer(nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s takes no runtime", what)
				}
			}()
			call()
		}()
	}
}

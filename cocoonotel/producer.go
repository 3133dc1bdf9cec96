package cocoonotel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/metrics"
)

// producer is the sdkmetric.Producer of a runtime.
type producer struct {
	rt         *cocoon.Runtime
	attributes []attribute.KeyValue
}

// NewProducer returns a producer of the runtime's histograms, for sdkmetric.WithProducer. They are
// exponential histograms of scale 3, which are cumulative whatever temporality the reader prefers.
// The attributes belong to every data point. The producer may be used by several readers, and after
// Shutdown. NewProducer panics if rt is nil.
func NewProducer(rt *cocoon.Runtime, attributes ...attribute.KeyValue) sdkmetric.Producer {
	if rt == nil {
		panic("cocoonotel: NewProducer: the runtime is nil; want what cocoon.New or cocoon.Default returned")
	}
	return &producer{rt, attributes}
}

// Produce returns the histograms.
func (p *producer) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	st, now := p.rt.Stats(), time.Now()
	points := map[*metrics.Metric][]metricdata.ExponentialHistogramDataPoint[float64]{}
	metrics.Read(st, func(v metrics.Value) {
		if v.Kind == metrics.Distribution {
			points[v.Metric] = append(points[v.Metric], point(v, labels(v, p.attributes), st.Started, now))
		}
	})
	scoped := metricdata.ScopeMetrics{Scope: instrumentation.Scope{Name: scope}}
	for _, f := range metrics.All {
		if len(points[f]) > 0 {
			scoped.Metrics = append(scoped.Metrics, metricdata.Metrics{
				Name: f.Name, Description: f.Help, Unit: f.Unit,
				Data: metricdata.ExponentialHistogram[float64]{DataPoints: points[f], Temporality: metricdata.CumulativeTemporality},
			})
		}
	}
	return []metricdata.ScopeMetrics{scoped}, nil
}

// point returns the data point of a distribution. OpenTelemetry numbers a bucket by its lower
// bound, and the runtime by its upper bound.
func point(v metrics.Value, attributes attribute.Set, start, now time.Time) metricdata.ExponentialHistogramDataPoint[float64] {
	d := v.Durations
	counts := make([]uint64, len(d.Counts))
	for i, n := range d.Counts {
		counts[i] = uint64(n)
	}
	return metricdata.ExponentialHistogramDataPoint[float64]{
		Attributes: attributes, StartTime: start, Time: now,
		Count: uint64(d.Count()), Sum: metrics.Seconds(d.Sum),
		Scale: cocoon.HistogramScale, ZeroCount: uint64(d.Zero),
		PositiveBucket: metricdata.ExponentialBucket{Offset: int32(d.First) - 1, Counts: counts},
	}
}

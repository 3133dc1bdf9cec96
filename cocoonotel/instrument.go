package cocoonotel

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/internal/metrics"
)

// scope is the name of the meter and of the tracer.
const scope = "github.com/cocoon-go/cocoon/cocoonotel"

// Instrument exports the metrics of a runtime to a MeterProvider, except the histograms (see
// [NewProducer]), and tells the spans of its tasks what happens to them. A nil provider leaves its
// part out. The attributes belong to every metric: give each of several runtimes its own, because
// OpenTelemetry would mix up their values otherwise.
//
// stop ends both; it may be called from any goroutine, and more than once. A runtime can be
// instrumented once for metrics and once for spans at a time, and several runtimes cannot use one
// provider with the same attributes; the error is then [cocoon.ErrDuplicate]. On an error nothing
// is instrumented. Metrics cost a collection about as much as [cocoon.Runtime.Stats], and tasks
// nothing. Instrument panics if rt is nil.
func Instrument(rt *cocoon.Runtime, meters metric.MeterProvider, tracers trace.TracerProvider, attributes ...attribute.KeyValue) (stop func() error, err error) {
	if rt == nil {
		panic("cocoonotel: Instrument: the runtime is nil; want what cocoon.New or cocoon.Default returned")
	}
	endSpans, endMetrics := func() {}, func() error { return nil }
	if tracers != nil {
		s := &spans{tracer: tracers.Tracer(scope)}
		if endSpans, err = inside.Witness(rt, s.tell); err != nil {
			return nil, fmt.Errorf("cocoonotel: %w", err)
		}
	}
	if meters != nil {
		if endMetrics, err = observe(rt, meters, attributes); err != nil {
			endSpans()
			return nil, fmt.Errorf("cocoonotel: %w", err)
		}
	}
	return sync.OnceValue(func() error {
		endSpans()
		return endMetrics()
	}), nil
}

// observe registers the instruments and one callback for all of them.
func observe(rt *cocoon.Runtime, meters metric.MeterProvider, attributes []attribute.KeyValue) (stop func() error, err error) {
	release, err := claim(rt, meters, attributes)
	if err != nil {
		return nil, err
	}
	meter := meters.Meter(scope)
	instruments, all := map[*metrics.Metric]metric.Float64Observable{}, []metric.Observable{}
	for _, f := range metrics.All {
		if f.Kind == metrics.Distribution {
			continue
		}
		i, err := instrument(meter, f)
		if err != nil {
			release()
			return nil, fmt.Errorf("the metric %s: %w", f.Name, err)
		}
		instruments[f] = i
		all = append(all, i)
	}
	registration, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		metrics.Read(rt.Stats(), func(v metrics.Value) {
			if i := instruments[v.Metric]; i != nil {
				o.ObserveFloat64(i, v.Number, metric.WithAttributeSet(labels(v, attributes)))
			}
		})
		return nil
	}, all...)
	if err != nil {
		release()
		return nil, err
	}
	return func() error {
		release()
		return registration.Unregister()
	}, nil
}

// instrument makes the instrument of a metric.
func instrument(meter metric.Meter, f *metrics.Metric) (metric.Float64Observable, error) {
	switch f.Kind {
	case metrics.Counter:
		return meter.Float64ObservableCounter(f.Name, metric.WithUnit(f.Unit), metric.WithDescription(f.Help))
	case metrics.Level:
		return meter.Float64ObservableUpDownCounter(f.Name, metric.WithUnit(f.Unit), metric.WithDescription(f.Help))
	case metrics.Gauge:
		return meter.Float64ObservableGauge(f.Name, metric.WithUnit(f.Unit), metric.WithDescription(f.Help))
	}
	return nil, errors.New("it has no observable instrument")
}

// labels returns the attributes of a value.
func labels(v metrics.Value, more []attribute.KeyValue) attribute.Set {
	all := append(make([]attribute.KeyValue, 0, len(v.Labels)+len(more)), more...)
	for i, name := range v.Metric.Labels {
		all = append(all, attribute.String("cocoon."+name, v.Labels[i]))
	}
	return attribute.NewSet(all...)
}

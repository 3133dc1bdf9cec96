package cocoonotel

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// BenchmarkRun runs a task in a free slot, and a task that a policy refuses, with and without
// tracing.
func BenchmarkRun(b *testing.B) {
	provider := sdktrace.NewTracerProvider()
	spanned, _ := provider.Tracer("test").Start(context.Background(), "request")
	for _, c := range []struct {
		name   string
		ctx    context.Context
		traced bool
	}{{"plain", context.Background(), false}, {"traced", context.Background(), true}, {"spanned", spanned, true}} {
		b.Run("free/"+c.name, func(b *testing.B) {
			rt := tasktest.Start(b, cocoon.Config{Slots: 2})
			run(b, rt, c.ctx, c.traced, provider, "get")
		})
		b.Run("refused/"+c.name, func(b *testing.B) {
			run(b, started(b, cocoon.Config{Slots: 2}), c.ctx, c.traced, provider, "unwanted")
		})
	}
}

func run(b *testing.B, rt *cocoon.Runtime, ctx context.Context, traced bool, provider *sdktrace.TracerProvider, name string) {
	if traced {
		stop, err := Instrument(rt, noop.MeterProvider{}, provider)
		tasktest.Must(b, err)
		defer stop()
	}
	for b.Loop() {
		rt.Run(ctx, name, nothing)
	}
}

// BenchmarkCollect collects all metrics.
func BenchmarkCollect(b *testing.B) {
	rt := started(b, cocoon.Config{Slots: 2})
	reader := sdkmetric.NewManualReader(sdkmetric.WithProducer(NewProducer(rt)))
	stop, err := Instrument(rt, sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), nil)
	tasktest.Must(b, err)
	defer stop()
	for b.Loop() {
		collected(b, reader)
	}
}

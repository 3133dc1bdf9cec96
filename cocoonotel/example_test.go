package cocoonotel_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonotel"
)

// The program runs a task that a policy stops, and prints what the metrics and the task's span say.
func ExampleInstrument() {
	rt, err := cocoon.New(cocoon.Config{Slots: 2, QuietThrows: true})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Shutdown(context.Background())
	if err := rt.LoadPolicies(strings.NewReader("version: 1\nlimits: [{func: report, limit: 5ms, reason: it takes too long}]")); err != nil {
		log.Fatal(err)
	}
	reader := sdkmetric.NewManualReader(sdkmetric.WithProducer(cocoonotel.NewProducer(rt))) // a program has a periodic one
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	tracers := sdktrace.NewTracerProvider()
	stop, err := cocoonotel.Instrument(rt, meters, tracers)
	if err != nil {
		log.Fatal(err)
	}
	defer stop()

	ctx, span := tracers.Tracer("shop").Start(context.Background(), "GET /report")
	rt.Run(ctx, "report", func(ctx context.Context) error {
		for {
			cocoon.SafePoint(ctx)
		}
	})
	span.End()
	for _, e := range span.(sdktrace.ReadOnlySpan).Events() {
		fmt.Println("event", e.Name)
	}

	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		log.Fatal(err)
	}
	for _, s := range all.ScopeMetrics {
		for _, m := range s.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Sum[float64]:
				if m.Name == "cocoon.loop.slots" {
					fmt.Println(m.Name, d.DataPoints[0].Value)
				}
			case metricdata.ExponentialHistogram[float64]:
				fmt.Println(m.Name, d.DataPoints[0].Count)
			}
		}
	}
	// Output:
	// event cocoon.throw
	// cocoon.loop.slots 2
	// cocoon.loop.queue.wait 1
	// cocoon.loop.safe.point.wait 1
}

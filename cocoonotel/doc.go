// Package cocoonotel exports the metrics of a Cocoon runtime to OpenTelemetry, and tells the spans
// of tasks what happens to them:
//
//	producer := cocoonotel.NewProducer(rt)
//	reader := sdkmetric.NewPeriodicReader(exporter, sdkmetric.WithProducer(producer))
//	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
//	stop, err := cocoonotel.Instrument(rt, provider, tracerProvider)
//
// The document docs/metrics.md lists the metrics, the events and the spans.
//
// # Histograms
//
// The SDK makes an exponential histogram only from values that it records one by one, which would
// cost each task more than Cocoon does. The runtime has counted the values already, in the buckets
// of an exponential histogram of scale 3. [NewProducer] hands these counts to a reader of the SDK
// as they are. [Instrument] has no way to do this, because it gets the API's MeterProvider, which
// takes values only.
//
// # Spans
//
// The span of a task is the one in the context that Run or Go got: with otelhttp outside of
// Cocoon's middleware, the span of the request. It gets an event when a throw reaches the task,
// when the task was suspended and resumes, when its slot was lent because it passes no safe point,
// and when it was refused. If it is recorded and the task had to wait for its first slot, the wait
// becomes a span below it. Tasks without a span cost a look-up in their context at these moments,
// and nothing at other moments.
package cocoonotel

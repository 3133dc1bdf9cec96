package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoondebug"
	"github.com/cocoon-go/cocoon/cocoonotel"
	"github.com/cocoon-go/cocoon/cocoonprom"
)

// wiredPolicies is a policy that cannot act while no task waits, as a document has it.
const wiredPolicies = "policies:\n  - {name: shed, on: enqueue, expr: 'queue.oldest > duration(\"500ms\") ? throw(\"overloaded\") : continue()'}\n"

// wire shows a runtime to its operators, as docs/operate.md says: metrics for Prometheus and
// OpenTelemetry, events of spans, the live page, and a watched document, of which it makes the file
// in the folder. No reader looks at any of it.
func wire(rt *cocoon.Runtime, folder string) (unwire func() error, err error) {
	file, err := os.CreateTemp(folder, "wired-*.yaml")
	if err != nil {
		return nil, err
	}
	if _, err := file.WriteString("version: 1\n" + wiredPolicies); err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(cocoonprom.NewCollector(rt))
	admin := http.NewServeMux()
	admin.Handle("/debug/cocoon/", cocoondebug.Handler(rt, cocoondebug.Options{}))
	admin.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader(sdkmetric.WithProducer(cocoonotel.NewProducer(rt)))))
	stop, err := cocoonotel.Instrument(rt, meters, sdktrace.NewTracerProvider())
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(context.Background())
	if err := rt.WatchPolicyFile(ctx, file.Name()); err != nil {
		end()
		return nil, err
	}
	return func() error {
		end()
		stop()
		return os.Remove(file.Name())
	}, nil
}

// wiredRun is the side of a Run on a wired runtime.
func wiredRun(folder string) side {
	return func(ctx context.Context, e effort) (figures, error) {
		unwire := func() error { return nil }
		f, err := preparedRun(cocoon.Config{}, func(rt *cocoon.Runtime) (err error) {
			unwire, err = wire(rt, folder)
			return err
		})(ctx, e)
		if err == nil {
			err = unwire()
		}
		return f, err
	}
}

// canaryRuns measures a Run with a policy that code has registered, that a document without canary
// has, of which a canary has another version, and that had one.
func canaryRuns(ctx context.Context, r *report, e effort) error {
	const canary = "canary: {share: 0.1}\n"
	folder, err := os.MkdirTemp("", "bench-canary-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, "policies.yaml")
	loaded := func(texts ...string) side {
		return preparedRun(cocoon.Config{}, func(rt *cocoon.Runtime) (err error) {
			for _, text := range texts {
				err = errors.Join(err, os.WriteFile(name, []byte("version: 1\n"+text), 0o600), rt.LoadPolicyFile(name))
			}
			return err
		})
	}
	code := preparedRun(cocoon.Config{}, func(rt *cocoon.Runtime) error {
		_, err := rt.RegisterPolicy(cocoon.Policy{Name: "shed", On: cocoon.OnEnqueue, Expr: `queue.oldest > duration("500ms") ? throw("overloaded") : continue()`})
		return err
	})
	other := "policies:\n  - {name: shed, on: enqueue, expr: 'queue.oldest > duration(\"400ms\") ? throw(\"overloaded\") : continue()'}\n"
	got, err := medians(ctx, e, code, loaded(wiredPolicies), loaded(wiredPolicies, canary+other), loaded(wiredPolicies, canary+other, other))
	if err != nil {
		return err
	}
	for i, x := range []struct {
		name, peer string
		claim      claim
	}{
		{"run, document without canary", "policy of code", claim{atMost: 1.05}},
		{"run, canary", "policy of code", claim{}},
		{"run, after a canary", "policy of code", claim{atMost: 1.05}},
	} {
		r.add(result{Name: x.name, Metric: "ns", Value: got[1+i][ns], Unit: "ns", Peer: x.peer, PeerValue: got[0][ns]}, x.claim)
	}
	return nil
}

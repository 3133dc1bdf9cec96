package cocoonotel

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/goleak"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const document = `
version: 1
tasks: {scan: preemptible, get: safe}
tenants: {label: tenant, shares: {gold: 3}}
states:
  seen: {first: 0, keys: 8}
preemption: {on: enqueue}
limits:
  - {func: endless, limit: 2ms, reason: it takes too long}
  - {func: part, limit: 2ms, reason: the part takes too long}
policies:
  - name: shed
    on: enqueue
    expr: 'arriving.name == "unwanted" ? throw("not now") : add("seen", arriving.name, 1)'
`

// started returns a runtime with the document.
func started(t testing.TB, cfg cocoon.Config) *cocoon.Runtime {
	t.Helper()
	cfg.QuietThrows = true
	return tasktest.StartWith(t, cfg, document)
}

func nothing(context.Context) error { return nil }

// collected returns what a reader collects, by the names of the metrics.
func collected(t testing.TB, r sdkmetric.Reader) map[string]metricdata.Metrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	tasktest.Must(t, r.Collect(context.Background(), &all))
	named := map[string]metricdata.Metrics{}
	for _, s := range all.ScopeMetrics {
		for _, m := range s.Metrics {
			if _, twice := named[m.Name]; twice || s.Scope.Name != scope {
				t.Errorf("%s, of %s", m.Name, s.Scope.Name)
			}
			named[m.Name] = m
		}
	}
	return named
}

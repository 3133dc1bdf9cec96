package cocoonprom

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// document makes a runtime report every metric.
const document = `
version: 1
tasks:
  default: preemptible
  get: safe
tenants: {label: tenant, shares: {gold: 3, free: 1}}
states:
  seen: {first: 0, keys: 8}
preemption: {on: enqueue}
limits:
  - {func: scan, limit: 2ms}
policies:
  - name: shed
    on: enqueue
    expr: 'arriving.name == "unwanted" ? throw("not now") : add("seen", arriving.labels.client, 1)'
  - name: planned
    on: enqueue
    mode: observe
    expr: 'arriving.name == "get" ? throw("not now") : continue()'
`

// started returns a runtime with the document.
func started(t testing.TB, cfg cocoon.Config) *cocoon.Runtime {
	t.Helper()
	cfg.QuietThrows = true
	return tasktest.StartWith(t, cfg, document)
}

// load keeps a runtime with the document busy until the end of the test or until stop: scans that
// reach their limit, gets that wait behind them, tasks that are refused, and clients and names
// without bound.
func load(t testing.TB, rt *cocoon.Runtime) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var ended []chan struct{}
	each := func(step func(ctx context.Context, i int)) {
		done := make(chan struct{})
		ended = append(ended, done)
		go func() {
			defer close(done)
			for i := 0; ctx.Err() == nil; i++ {
				step(ctx, i)
			}
		}()
	}
	tenants := []string{"gold", "free", "hostile\xff" + strings.Repeat("x", 100), ""}
	as := func(ctx context.Context, i int) context.Context {
		ctx = cocoon.WithLabel(ctx, "client", strconv.Itoa(i))
		return cocoon.WithLabel(ctx, "tenant", tenants[i%len(tenants)])
	}
	nothing := func(context.Context) error { return nil }
	each(func(ctx context.Context, i int) {
		rt.Run(as(ctx, i), "scan", func(ctx context.Context) error {
			for {
				cocoon.SafePoint(ctx)
			}
		})
	})
	each(func(ctx context.Context, i int) { rt.Run(as(ctx, i), "get", nothing) })
	each(func(ctx context.Context, i int) { rt.Run(as(ctx, i), "unwanted", nothing) })
	each(func(ctx context.Context, i int) {
		rt.Run(as(ctx, i), "task "+strconv.Itoa(i), func(ctx context.Context) error {
			return cocoon.Block(ctx, func() error { time.Sleep(100 * time.Microsecond); return nil })
		})
	})
	stop = func() {
		cancel()
		for _, done := range ended {
			<-done
		}
	}
	t.Cleanup(stop)
	return stop
}

// registered returns a registry that also checks each metric against its description.
func registered(t testing.TB, rt *cocoon.Runtime) *prometheus.Registry {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	tasktest.Must(t, r.Register(NewCollector(rt)))
	return r
}

// gathered returns the families of a registry by name.
func gathered(t testing.TB, g prometheus.Gatherer) map[string]*dto.MetricFamily {
	t.Helper()
	all, err := g.Gather()
	tasktest.Must(t, err)
	named := map[string]*dto.MetricFamily{}
	for _, f := range all {
		named[f.GetName()] = f
	}
	return named
}

// value returns the metric of a family with the values of its labels, in the order of their names.
func value(t testing.TB, f *dto.MetricFamily, labels ...string) *dto.Metric {
	t.Helper()
	for _, m := range f.GetMetric() {
		same := len(m.Label) == len(labels)
		for i := range m.Label {
			same = same && m.Label[i].GetValue() == labels[i]
		}
		if same {
			return m
		}
	}
	t.Fatalf("%s has no metric with %q: %v", f.GetName(), labels, f)
	return nil
}

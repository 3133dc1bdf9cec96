package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonprom"
)

// watch measures what it costs to be able to see what a runtime does, while nothing is decided: a
// Run, and a server that says hello, with all that shows a runtime to its operators while no operator
// looks, with readers that wait for decisions, and the server while its metrics are scraped, in
// comparison with the same without. It also measures a Run without a canary, under one and after
// one; a storm of decisions, in which each task is refused, with readers that read them; and a Run
// with each switch of Config that shows tasks to the tools of Go.
func watch(ctx context.Context, r *report) error {
	return watchWith(ctx, r, effort{rounds: 15, span: 200 * time.Millisecond}, effort{rounds: 400, span: 50 * time.Millisecond})
}

func watchWith(ctx context.Context, r *report, parts, server effort) error {
	const peer = "nobody watches"
	folder, err := os.MkdirTemp("", "bench-watch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	switches := []struct {
		name string
		cfg  cocoon.Config
	}{
		{"run, profile labels", cocoon.Config{ProfileLabels: true}},
		{"run, trace that nobody takes", cocoon.Config{Trace: true}},
		{"run, flight recorder", cocoon.Config{FlightRecorder: cocoon.FlightRecorder{Folder: folder}}},
	}
	sides := []side{runSide, watchedRun, storm(0), storm(watchers), wiredRun(folder)}
	for _, x := range switches {
		sides = append(sides, configuredRun(x.cfg))
	}
	got, err := medians(ctx, parts, sides...)
	if err != nil {
		return err
	}
	r.add(result{Name: "run", Metric: "ns", Value: got[1][ns], Unit: "ns", Peer: peer, PeerValue: got[0][ns]}, claim{atMost: 1.05})
	r.add(result{Name: "run wired", Metric: "ns", Value: got[4][ns], Unit: "ns", Peer: peer, PeerValue: got[0][ns]}, claim{atMost: 1.05})
	r.add(result{Name: "storm", Metric: "refusal_ns", Value: got[3][ns], Unit: "ns", Peer: peer, PeerValue: got[2][ns]}, claim{})
	for i, x := range switches {
		r.add(result{Name: x.name, Metric: "ns", Value: got[5+i][ns], Unit: "ns", Peer: "without it", PeerValue: got[0][ns]}, claim{})
	}
	if err := canaryRuns(ctx, r, parts); err != nil {
		return err
	}
	return watchedServer(ctx, r, server)
}

// watchers is the number of readers of the watched sides.
const watchers = 4

// watchWhile calls f while readers read all decisions of the runtime.
func watchWhile(rt *cocoon.Runtime, f func() figures) figures {
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan struct{})
	for range watchers {
		go func() {
			for range rt.Decisions(0).All(ctx) {
			}
			ended <- struct{}{}
		}()
	}
	result := f()
	end()
	for range watchers {
		<-ended
	}
	return result
}

func watchedRun(ctx context.Context, e effort) (figures, error) {
	return withRuntime(cocoon.Config{Slots: 1}, func(rt *cocoon.Runtime) (f figures, err error) {
		f = watchWhile(rt, func() figures {
			return perOperation(e.span, func(n int) {
				for range n {
					if e := rt.Run(ctx, "empty", nothing); e != nil {
						err = e
					}
				}
			})
		})
		return f, err
	})
}

// storm is a side in which each task is refused, as fast as one goroutine can ask.
func storm(readers int) side {
	return func(ctx context.Context, e effort) (figures, error) {
		return withRuntime(cocoon.Config{Slots: 1, QuietThrows: true}, func(rt *cocoon.Runtime) (f figures, err error) {
			_, err = rt.RegisterPolicy(cocoon.Policy{Name: "no", On: cocoon.OnEnqueue, Expr: `arriving.labels.user == "admin" ? continue() : throw("no")`})
			if err != nil {
				return nil, err
			}
			ctx := cocoon.WithLabel(ctx, "user", "eve")
			refuse := func() figures {
				return perOperation(e.span, func(n int) {
					for range n {
						if rt.Run(ctx, "empty", nothing) == nil {
							err = errors.New("a task was not refused")
						}
					}
				})
			}
			if readers > 0 {
				return watchWhile(rt, refuse), err
			}
			return refuse(), err
		})
	}
}

// scrape scrapes the metrics of a runtime every second, as Prometheus does at its most eager.
func scrape(rt *cocoon.Runtime) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(cocoonprom.NewCollector(rt))
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	for range time.Tick(time.Second) {
		metrics.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", nil))
	}
}

// watchedServer compares the server that says hello with the same server while readers wait for its
// decisions, while its metrics are scraped, and with all that shows it to operators.
func watchedServer(ctx context.Context, r *report, e effort) (err error) {
	cores, release, err := r.apart()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	var sides []side
	for _, kind := range []string{cocoonServer, watchedKind, scrapedKind, wiredKind} {
		s, err := startServer(ctx, "http", kind, cores, r.stderr)
		if err != nil {
			return err
		}
		defer s.child.Stop()
		crowd, err := newCrowd(s.address, httpPages[0].path, httpConnections)
		if err != nil {
			return err
		}
		defer crowd.close()
		sides = append(sides, func(ctx context.Context, e effort) (figures, error) {
			return s.measure(func() (int64, error) { return crowd.ask(ctx, time.Now().Add(e.span)) })
		})
	}
	got, err := medians(ctx, e, sides...)
	if err != nil {
		return err
	}
	const peer = "nobody watches"
	for i, name := range []string{"hello", "hello scraped", "hello wired"} {
		f := got[1+i]
		r.add(result{Name: name, Metric: "throughput", Value: f[perSecond], Unit: "1/s", Peer: peer, PeerValue: got[0][perSecond]}, claim{atLeast: 0.99})
		r.add(result{Name: name, Metric: "server_cpu", Value: f[serverTime], Unit: "µs", Peer: peer, PeerValue: got[0][serverTime]}, claim{atMost: 1.01})
		r.add(result{Name: name, Metric: "server_switches", Value: f[serverSwitches], Unit: "switches", Peer: peer, PeerValue: got[0][serverSwitches]}, claim{})
	}
	return nil
}

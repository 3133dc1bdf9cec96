package main

import (
	"context"
	"errors"
	"time"
)

// The load of the routers' servers: connections that each send the next request after the previous
// response, and a number of requests a second at times drawn beforehand.
const (
	routerCrowd = 16
	routerRate  = 2000
	routerSpare = 64 // connections for the requests at drawn times
	routerItem  = "/items/1234"
)

// The claims about the cost of a server with the guide's policies.
var (
	routerThroughput = claim{atLeast: 0.95}
	routerTime       = claim{atMost: 1.08}
	routerSwitches   = claim{atMost: 1.1}
	// A plain server at full load hardly waits: 0.04 a response.
	fullSwitches = claim{atMost: 1.1, plus: 0.05}
)

// routerSection measures the cost in a realistic server: chi and gin with an item endpoint that
// responds with JSON, as in docs/guide.md, with its policies, in comparison with the same servers
// without Cocoon. Each server is a process on a separate core; this process, on another core, is
// the client.
func routerSection(ctx context.Context, r *report) error {
	return routerWith(ctx, r, effort{rounds: 40, span: 100 * time.Millisecond}, effort{rounds: 9, span: time.Second})
}

func routerWith(ctx context.Context, r *report, closed, open effort) (err error) {
	cores, release, err := r.apart()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	routers := []string{"chi", "gin"}
	var crowds, streams []side
	for _, router := range routers {
		for _, kind := range []string{plainServer, policiesServer} {
			s, err := startServer(ctx, "router", routerConfig{router, kind}, cores, r.stderr)
			if err != nil {
				return err
			}
			defer s.child.Stop()
			clients, err := connect(s.address, routerItem, routerSpare)
			defer hangUp(clients)
			if err != nil {
				return err
			}
			crowd, err := newCrowd(s.address, routerItem, routerCrowd)
			if err != nil {
				return err
			}
			defer crowd.close()
			crowds = append(crowds, func(ctx context.Context, e effort) (figures, error) {
				return s.measure(func() (int64, error) { return crowd.ask(ctx, time.Now().Add(e.span)) })
			})
			streams = append(streams, func(ctx context.Context, e effort) (figures, error) {
				return openLoop(s, clients, arrivals(routerRate, e.span))
			})
		}
	}
	r.progress("closed loop")
	full, err := medians(ctx, closed, crowds...)
	if err != nil {
		return err
	}
	r.progress("open loop")
	part, err := medians(ctx, open, streams...)
	if err != nil {
		return err
	}
	for i, router := range routers {
		reportRouter(r, router, full[2*i], full[2*i+1], part[2*i], part[2*i+1])
	}
	return nil
}

// reportRouter reports the figures of the closed loop and of the open one, for each with the plain
// server first.
func reportRouter(r *report, router string, plainFull, full, plainPart, part figures) {
	for _, loop := range []struct {
		name        string
		plain, with figures
		switches    claim
	}{{"closed", plainFull, full, fullSwitches}, {"open", plainPart, part, routerSwitches}} {
		add := func(metric string, figure int, unit string, c claim) {
			r.add(result{Name: router + ", " + loop.name, Metric: metric, Value: loop.with[figure], Unit: unit, Peer: router + " alone", PeerValue: loop.plain[figure]}, c)
		}
		if loop.name == "closed" {
			add("throughput", perSecond, "1/s", routerThroughput)
		} else {
			add("p50", openP50, "µs", claim{})
			add("p99", openP99, "µs", claim{})
		}
		add("server_cpu", serverTime, "µs", routerTime)
		add("server_switches", serverSwitches, "switches", loop.switches)
		add("client_cpu", clientTime, "µs", claim{})
	}
}

// The figures of an open loop, which follow those of any server under load.
const (
	openP50 = clientTime + 1 + iota // µs
	openP99
)

func openLoop(s *server, clients []*httpClient, moments []time.Duration) (figures, error) {
	var took []float64
	f, err := s.measure(func() (answers int64, err error) {
		took, answers, err = sendAt(clients, moments)
		return answers, err
	})
	if err != nil {
		return nil, err
	}
	q, err := quantiles(took)
	return append(f, q...), err
}

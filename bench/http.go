package main

import (
	"context"
	"errors"
	"time"
)

// httpConnections is the number of connections, each of which sends its next request as soon as it
// has the previous response.
const httpConnections = 64

// httpPages are the pages that the clients request.
var httpPages = []struct{ name, path string }{{"hello", "/hello"}, {"16 KB", "/page"}}

// httpSection measures the cost of cocoonhttp with a server that says hello, and that sends 16 KB
// in writes of 1 KB: without the middleware, with it, and with typical policies, each in a separate
// process. This process is the client; its cost is among the results.
func httpSection(ctx context.Context, r *report) error {
	return httpWith(ctx, r, effort{rounds: 400, span: 50 * time.Millisecond})
}

func httpWith(ctx context.Context, r *report, e effort) (err error) {
	cores, release, err := r.apart()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	var servers []*server
	for _, kind := range []string{plainServer, cocoonServer, policiesServer} {
		s, err := startServer(ctx, "http", kind, cores, r.stderr)
		if err != nil {
			return err
		}
		defer s.child.Stop()
		servers = append(servers, s)
	}
	for _, page := range httpPages {
		if err := httpPage(ctx, r, e, servers, page.name, page.path); err != nil {
			return err
		}
	}
	return nil
}

func httpPage(ctx context.Context, r *report, e effort, servers []*server, page, path string) error {
	var sides []side
	for _, s := range servers {
		crowd, err := newCrowd(s.address, path, httpConnections)
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
	for i, name := range []string{page, page + ", policies"} {
		add := func(metric string, j int, unit string, c claim) {
			r.add(result{Name: name, Metric: metric, Value: got[i+1][j], Unit: unit, Peer: "net/http alone", PeerValue: got[0][j]}, c)
		}
		add("throughput", perSecond, "1/s", claim{atLeast: 0.95})
		add("server_cpu", serverTime, "µs", claim{})
		add("server_switches", serverSwitches, "switches", claim{})
		add("client_cpu", clientTime, "µs", claim{})
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"
)

// waiting is a kind of handler that waits, and the clients that keep a number of them waiting.
type waiting struct {
	name   string
	about  string
	crowd  int
	client func(ctx context.Context, v *visited, answers *atomic.Int64) error
}

// waitings are the kinds of handlers. systemWaitings exist only on some systems.
var waitings = append([]waiting{
	{"streams", "200 event streams, an event each 200 ms", 200, watchEvents},
	{"sleepers", "1000 requests at once that sleep 250 ms", 1000, askAgain},
	{"steps", "5 requests at once that twenty times run for 0.1 ms and sleep 1 ms", 5, askAgain},
	{"mutex", "16 requests at once that sleep 1 ms under one lock", 16, askAgain},
	{"hand-off", "64 requests at once that hand a job to 4 workers, 1 ms each", 64, askAgain},
	{"pool", "64 requests at once for 4 database connections, 2 ms each", 64, askAgain},
	{"websocket", "100 connections that send a message 40 ms after the last echo", 100, sendMessages},
	{"proxy", "16 requests at once to an upstream that takes 5 ms", 16, askAgain},
	{"mixed", "80 event streams, an event each 5 ms; 20 web sockets; 20 requests at once that hand off, work and wait by turns, or compute for 20 ms", 120, useAll},
}, systemWaitings...)

// waitingKinds are the three servers of a kind: plain Go, in the middleware without announcing its
// waits, and with cocoon.Block around each wait.
var waitingKinds = []string{plainServer, cocoonServer, blockServer}

const blockServer = "block"

// Short requests are sent in addition to the requests that wait.
const (
	shortRate   = 1000                   // a second
	shortSpare  = 64                     // connections
	settling    = 250 * time.Millisecond // the time in which the clients start, one by one
	waitingPath = "/wait"
	shortPath   = "/short"
)

// unannounced measures servers that do not announce their waits: the throughput of the requests
// that wait, and the latency of short requests meanwhile. Each server is a process on a separate
// core; this process, on another core, is the client. A round has 500 short requests: a pause of 5
// ms that the machine makes decides its 99th percentile. With 5 rounds the medians of two servers
// differed by up to three times, and with 21 by a fifth.
func unannounced(ctx context.Context, r *report) error {
	return unannouncedWith(ctx, r, effort{rounds: 15, span: 500 * time.Millisecond}, waitings)
}

func unannouncedWith(ctx context.Context, r *report, e effort, all []waiting) (err error) {
	cores, release, err := r.apart()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	for _, w := range all {
		r.progress("%s: %s", w.name, w.about)
		if err := w.measure(ctx, r, e, cores); err != nil {
			return errors.Join(errors.New(w.name), err)
		}
	}
	return nil
}

// measure compares the three servers of a kind.
func (w waiting) measure(ctx context.Context, r *report, e effort, cores []int) error {
	upstream := httptest.NewServer(upstreamHandler)
	defer upstream.Close()
	var sides []side
	for _, kind := range waitingKinds {
		s, err := startServer(ctx, "unannounced", waitingConfig{w.name, kind, upstream.URL}, cores, r.stderr)
		if err != nil {
			return err
		}
		defer s.child.Kill() // some of its handlers may not end by themselves
		shorts, err := connect(s.address, shortPath, shortSpare)
		defer hangUp(shorts)
		if err != nil {
			return err
		}
		v := &visited{server: s, shorts: shorts}
		sides = append(sides, func(ctx context.Context, e effort) (figures, error) { return v.under(ctx, w, e.span) })
	}
	got, err := medians(ctx, e, sides...)
	if err != nil {
		return err
	}
	reportWaiting(r, w.name, got[0], got[1], got[2])
	return nil
}

// reportWaiting reports the figures of the three servers of a kind.
func reportWaiting(r *report, name string, plain, with, block figures) {
	for _, peer := range []struct {
		name               string
		figures            figures
		throughput, beside claim
		time               claim
	}{
		{"plain Go", plain, claim{atLeast: 0.9}, claim{atMost: 1.5, plus: 1000}, claim{}},
		{"with Block", block, claim{}, claim{}, claim{atMost: 1.1}},
	} {
		add := func(metric string, figure int, unit string, c claim) {
			r.add(result{Name: name, Metric: metric, Value: with[figure], Unit: unit, Peer: peer.name, PeerValue: peer.figures[figure]}, c)
		}
		add("throughput", waitsPerSecond, "1/s", peer.throughput)
		add("short_p50", openP50, "µs", claim{})
		add("short_p99", openP99, "µs", peer.beside)
		add("server_cpu", serverTime, "µs", peer.time)
		add("server_switches", serverSwitches, "switches", claim{})
	}
}

// waitsPerSecond is the index of the rate of responses to requests that wait. It follows the
// figures of an open loop, which cover only the short requests, except for the server's cost of a
// response, which covers both.
const waitsPerSecond = openP99 + 1

// visited is a server and its clients. Only one goroutine may use it.
type visited struct {
	server *server
	shorts []*httpClient

	once     sync.Once // guards first, a client that knows the length of the slow responses
	first    *httpClient
	firstErr error

	clients atomic.Int64 // how many clients of a mixed server have begun
}

// under measures the server under its load. The clients that keep handlers waiting hang up at the
// end.
func (v *visited) under(ctx context.Context, w waiting, span time.Duration) (figures, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel(nil)
	var answers atomic.Int64
	for i := range w.crowd {
		all.Go(func() {
			pause(ctx, time.Duration(i)*settling/time.Duration(w.crowd))
			if err := w.client(ctx, v, &answers); err != nil && ctx.Err() == nil {
				cancel(err)
			}
		})
	}
	pause(ctx, settling+settling/4)
	var took []float64
	var waits int64
	begin := time.Now()
	f, err := v.server.measure(func() (_ int64, err error) {
		var shorts int64
		before := answers.Load()
		took, shorts, err = sendAt(v.shorts, arrivals(shortRate, span))
		waits = answers.Load() - before
		return shorts + waits, err
	})
	if err := errors.Join(err, context.Cause(ctx)); err != nil {
		return nil, err
	}
	perSecond := float64(waits) / time.Since(begin).Seconds()
	q, err := quantiles(took)
	return append(append(f, q...), perSecond), err
}

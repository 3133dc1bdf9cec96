package main

import (
	"context"
	"errors"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// memoryEffort is the number of tasks.
type memoryEffort struct {
	rounds  int // of all parts except queued, which takes long and has one
	blocked int
	queued  int
	back    int
	streams int
	links   int
}

// memory measures the cost of tasks that wait, that have ended, and that follow each other, in
// comparison with plain goroutines that do the same. Each measurement is a separate process, so
// that no measurement is affected by what another has left.
func memory(ctx context.Context, r *report) error {
	return memoryWith(ctx, r, memoryEffort{rounds: 3, blocked: 100_000, queued: 1_000_000, back: 20_000, streams: 100, links: 100_000})
}

func memoryWith(ctx context.Context, r *report, e memoryEffort) error {
	for _, part := range []struct {
		name    string
		rounds  int
		n       int
		measure func(r *report, name string, plain, cocoon figures)
	}{
		{"blocked", e.rounds, e.blocked, reportCrowd},
		{"queued", 1, e.queued, reportCrowd},
		{"returning", e.rounds, e.back, reportReturning},
		{"retained", e.rounds, e.streams, reportRetained},
		{"chain", e.rounds, e.links, reportChain},
	} {
		r.progress("%s: %d", part.name, part.n)
		got, err := medians(ctx, effort{rounds: part.rounds}, memorySide(r, part.name, false, part.n), memorySide(r, part.name, true, part.n))
		if err != nil {
			return errors.Join(errors.New(part.name), err)
		}
		part.measure(r, part.name, got[0], got[1])
	}
	return nil
}

// memorySide measures in a separate process.
func memorySide(r *report, part string, cocoon bool, n int) side {
	return func(ctx context.Context, _ effort) (f figures, err error) {
		s, err := loadtest.Start(ctx, "memory", memoryConfig{part, cocoon, n}, nil, nil, r.stderr)
		if err != nil {
			return nil, err
		}
		return f, errors.Join(s.Receive(&f), s.Stop())
	}
}

// The figures of a crowd of waiting goroutines or tasks.
const (
	crowdBytes = iota // heap and stack, of each
	crowdUp           // ms until all wait
	crowdDown         // ms from then until all have ended
)

func reportCrowd(r *report, name string, plain, cocoon figures) {
	const peer = "goroutines"
	more := cocoon[crowdBytes] - plain[crowdBytes]
	r.add(result{Name: name, Metric: "bytes", Value: cocoon[crowdBytes], Unit: "B", Peer: peer, PeerValue: plain[crowdBytes]}, claim{atMost: 1.5})
	r.add(result{Name: name, Metric: "bytes_more", Value: more, Unit: "B"}, upTo(1024))
	r.add(result{Name: name, Metric: "up", Value: cocoon[crowdUp], Unit: "ms", Peer: peer, PeerValue: plain[crowdUp]}, claim{})
	r.add(result{Name: name, Metric: "down", Value: cocoon[crowdDown], Unit: "ms", Peer: peer, PeerValue: plain[crowdDown]}, claim{})
	r.add(result{Name: name, Metric: "time", Value: cocoon[crowdUp] + cocoon[crowdDown], Unit: "ms", Peer: peer, PeerValue: plain[crowdUp] + plain[crowdDown]}, claim{atMost: 2})
}

// reportReturning reports how long tasks take that come back at once and then wait unannounced.
func reportReturning(r *report, name string, plain, cocoon figures) {
	r.add(result{Name: name, Metric: "down", Value: cocoon[crowdDown], Unit: "ms", Peer: "goroutines", PeerValue: plain[crowdDown]}, claim{atMost: 2, plus: 500})
}

// reportRetained reports the KiB in use when all requests have ended, and streams on the same
// connections are idle.
func reportRetained(r *report, name string, plain, cocoon figures) {
	r.add(result{Name: name, Metric: "heap", Value: cocoon[0], Unit: "KiB", Peer: "goroutines", PeerValue: plain[0]}, claim{atMost: 1, plus: 1024})
}

// The figures of a chain.
const (
	chainBeginning = iota // ns a link
	chainEnd
	chainHeapBeginning // KiB
	chainHeapEnd
)

func reportChain(r *report, name string, plain, cocoon figures) {
	const peer = "its beginning"
	r.add(result{Name: name, Metric: "link", Value: cocoon[chainEnd], Unit: "ns", Peer: peer, PeerValue: cocoon[chainBeginning]}, claim{atMost: 1.5})
	r.add(result{Name: name, Metric: "heap", Value: cocoon[chainHeapEnd], Unit: "KiB", Peer: peer, PeerValue: cocoon[chainHeapBeginning]}, claim{atMost: 1, plus: 1024})
	r.add(result{Name: name, Metric: "link", Value: cocoon[chainEnd], Unit: "ns", Peer: "goroutines", PeerValue: plain[chainEnd]}, claim{})
}

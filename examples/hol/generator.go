package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// drain is how long the generator waits for the outstanding responses when its schedule has ended.
const drain = 10 * time.Second

type progress struct {
	Elapsed     time.Duration
	Gets, Scans int64 // completed so far
}

// sample is the result of one request. Times count from the generator's start.
type sample struct {
	sent, finished time.Duration
	usage          usage // of a usageReading
	err            error
}

// generator sends the requests of a schedule at their times, whether or not earlier requests have
// their responses.
type generator struct {
	load     load
	schedule []request
	samples  []sample // one for each request of the schedule, written by that request's goroutine
	totals   []uint64 // totals[i] is the value of the orders before i
	client   *http.Client
	start    time.Time
	done     [3]atomic.Int64 // by kind: requests that have their sample
}

// generate is the body of the generator process.
func generate(l load) error {
	g := newGenerator(l)
	return loadtest.Generate(g.drive, g.progress, func() outcome { return summarize(l, g.schedule, g.samples) })
}

func newGenerator(l load) *generator {
	g := &generator{
		load:     l,
		schedule: l.schedule(),
		totals:   make([]uint64, l.Records+1),
		client:   loadtest.NewClient(),
	}
	for id := range l.Records {
		g.totals[id+1] = g.totals[id] + makeOrder(uint64(id)).total()
	}
	g.samples = make([]sample, len(g.schedule))
	g.start = time.Now()
	return g
}

func (g *generator) progress() progress {
	return progress{time.Since(g.start), g.done[get].Load(), g.done[scan].Load()}
}

// drive sends the schedule and waits for all responses, at most for drain.
func (g *generator) drive(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, g.load.WarmUp+g.load.Duration+drain,
		fmt.Errorf("no response %v after the end of the schedule", drain))
	defer cancel()
	at := func(i int) time.Duration { return g.schedule[i].at }
	loadtest.Dispatch(g.start, len(g.schedule), at, func(i int) { g.samples[i] = g.send(ctx, g.schedule[i]) })
}

// send makes one request and checks the response.
func (g *generator) send(ctx context.Context, r request) (s sample) {
	to := r.from + uint64(g.load.ScanRecords)
	var path string
	switch r.kind {
	case get:
		path = fmt.Sprintf("/get?id=%d", r.from)
	case scan:
		path = fmt.Sprintf("/scan?from=%d&to=%d", r.from, to)
	case usageReading:
		path = "/usage"
	}
	s.sent = time.Since(g.start)
	body, err := g.fetch(ctx, path)
	s.finished = time.Since(g.start)
	switch {
	case err != nil:
	case r.kind == get:
		if want := makeOrder(r.from).encode(); !bytes.Equal(body, want) {
			err = fmt.Errorf("body %q; want %q", body, want)
		}
	case r.kind == scan:
		var sum summary
		want := summary{Count: g.load.ScanRecords, Total: g.totals[to] - g.totals[r.from]}
		if err = json.Unmarshal(body, &sum); err == nil && sum != want {
			err = fmt.Errorf("summary %+v; want %+v", sum, want)
		}
	case r.kind == usageReading:
		err = json.Unmarshal(body, &s.usage)
	}
	if err != nil {
		s.err = fmt.Errorf("GET %s: %w", path, err)
	}
	g.done[r.kind].Add(1)
	return s
}

// fetch returns the body of a response with status 200.
func (g *generator) fetch(ctx context.Context, path string) ([]byte, error) {
	status, body, err := loadtest.Do(ctx, g.client, http.MethodGet, "http://"+g.load.Address+path, nil)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status %d: %s", status, bytes.TrimSpace(body))
	}
	return body, err
}

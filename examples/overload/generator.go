package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// errNoAnswer is the error of a client that has stopped waiting.
var errNoAnswer = errors.New("no response")

// patience is how long a client waits before it gives up.
const patience = time.Second

// connections is how many connections are opened before the load begins, as many as recurring
// clients keep open.
const connections = 128

type progress struct {
	Elapsed      time.Duration
	Good, Others int64 // requests that have ended so far
}

// sample is the result of one request. Times count from the generator's start.
type sample struct {
	sent, finished time.Duration
	end            ending
	err            error // an error that must not occur in any mode
}

// ending is how a request ended.
type ending uint8

const (
	unanswered ending = iota // the client stopped waiting
	answered                 // with a right response
	refused                  // 429 or 503
	expired                  // 504
)

// generator sends the requests of a schedule at their times, whether or not earlier requests have
// their responses.
type generator struct {
	load     load
	schedule []request
	samples  []sample // one for each request of the schedule, written by that request's goroutine
	answers  [][sha256.Size]byte
	client   *http.Client
	start    time.Time
	done     struct{ good, others atomic.Int64 }
	actions  []int64 // the server's
	err      error   // of the request for them
}

// generate is the body of the generator process.
func generate(l load) error {
	g := newGenerator(l)
	if err := g.connect(context.Background()); err != nil {
		return err
	}
	g.start = time.Now()
	return loadtest.Generate(g.drive, g.progress, g.outcome)
}

func newGenerator(l load) *generator {
	g := &generator{load: l, schedule: l.schedule(), answers: answersOf(l.Hashes, maxPieces), client: loadtest.NewClient()}
	g.samples = make([]sample, len(g.schedule))
	return g
}

func (g *generator) progress() progress {
	return progress{time.Since(g.start), g.done.good.Load(), g.done.others.Load()}
}

func (g *generator) outcome() outcome {
	o := summarize(g.load, g.schedule, g.samples)
	o.FirstAction, o.Acted = firstAfter(g.actions, g.start.Add(g.load.WarmUp).UnixNano())
	if g.err != nil {
		o.fail(g.err)
	}
	return o
}

// drive sends the schedule, waits for all responses, and asks the server for its actions.
func (g *generator) drive(ctx context.Context) {
	at := func(i int) time.Duration { return g.schedule[i].at }
	loadtest.Dispatch(g.start, len(g.schedule), at, func(i int) { g.samples[i] = g.send(ctx, g.schedule[i]) })
	g.err = g.get(ctx, "/actions", &g.actions)
}

// connect opens connections by concurrent requests that each take a connection for a while.
func (g *generator) connect(ctx context.Context) error {
	var all sync.WaitGroup
	errs := make([]error, connections)
	for i := range errs {
		all.Go(func() { errs[i] = g.get(ctx, "/hold", nil) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// get reads the response to a request outside the load; a nil into discards it.
func (g *generator) get(ctx context.Context, path string, into any) error {
	status, body, err := loadtest.Do(ctx, g.client, http.MethodGet, "http://"+g.load.Address+path, nil)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status %d: %.100q", status, body)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}

// send makes one request and checks the response.
func (g *generator) send(ctx context.Context, r request) (s sample) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errNoAnswer)
	defer cancel()
	url := fmt.Sprintf("http://%s/%s?pieces=%d&tenant=%s", g.load.Address, classes[r.class].name, r.pieces, r.tenant)
	s.sent = time.Since(g.start)
	status, body, err := loadtest.Do(ctx, g.client, http.MethodGet, url, nil)
	s.finished = time.Since(g.start)
	s.end, s.err = g.judge(r, status, body, err)
	if s.good(r) {
		g.done.good.Add(1)
	} else {
		g.done.others.Add(1)
	}
	return s
}

// good reports whether a request got its response within the time that counts.
func (s sample) good(r request) bool { return s.end == answered && s.finished-r.at <= good }

// judge classifies how a request ended.
func (g *generator) judge(r request, status int, body []byte, err error) (ending, error) {
	switch {
	case errors.Is(err, errNoAnswer):
		return unanswered, nil
	case err != nil:
		return unanswered, err
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		return refused, nil
	case status == http.StatusGatewayTimeout:
		return expired, nil
	case status != http.StatusOK:
		return unanswered, fmt.Errorf("status %d: %.100q", status, body)
	}
	if want := fmt.Sprintf("%x", g.answers[r.pieces]); string(body) != want {
		return unanswered, fmt.Errorf("body %.100q; want %q", body, want)
	}
	return answered, nil
}

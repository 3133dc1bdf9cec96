package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// drain is how long the generator waits for the responses to pings when its schedule has ended.
const drain = 10 * time.Second

// errNoAnswer is the error of a client that has stopped waiting, or of the generator at its end.
var errNoAnswer = errors.New("no response")

// progress counts the requests that have ended.
type progress struct {
	Elapsed        time.Duration
	Pings, Attacks int64
}

// sample is the result of one request. Times count from the generator's start.
type sample struct {
	sent, finished time.Duration
	end            ending
	took           time.Duration // by an attack's match, if it completed or was stopped
	benign         error         // error of the benign question after an attack
	err            error         // an error that must not occur in any mode
}

// ending is how a request ended.
type ending uint8

const (
	unanswered ending = iota // the client stopped waiting
	answered
	stopped
)

// generator sends the requests of a schedule at their times, whether or not earlier requests have
// their responses.
type generator struct {
	load     load
	cases    []evilCase
	schedule []request
	samples  []sample // one for each request of the schedule, written by that request's goroutine
	client   *http.Client
	start    time.Time
	done     struct{ pings, attacks atomic.Int64 }
}

// generate is the body of the generator process.
func generate(l load) error {
	g, err := newGenerator(l)
	if err != nil {
		return err
	}
	return loadtest.Generate(g.drive, g.progress, func() outcome { return summarize(l, g.cases, g.schedule, g.samples) })
}

func newGenerator(l load) (*generator, error) {
	cases, err := readCases(l.CasesFile)
	if err != nil {
		return nil, err
	}
	g := &generator{load: l, cases: cases, schedule: l.schedule(), client: loadtest.NewClient()}
	g.samples = make([]sample, len(g.schedule))
	g.start = time.Now()
	return g, nil
}

func (g *generator) progress() progress {
	return progress{time.Since(g.start), g.done.pings.Load(), g.done.attacks.Load()}
}

func (g *generator) url(path string) string { return "http://" + g.load.Address + path }

// drive sends the schedule and waits for all responses, at most for drain.
func (g *generator) drive(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, g.load.end()+drain, errNoAnswer)
	defer cancel()
	loadtest.Dispatch(g.start, len(g.schedule), func(i int) time.Duration { return g.schedule[i].at }, func(i int) {
		if c := g.schedule[i].attack; c != ping {
			g.samples[i] = g.attack(ctx, g.cases[c])
			g.done.attacks.Add(1)
		} else {
			g.samples[i] = g.ping(ctx)
			g.done.pings.Add(1)
		}
	})
}

// ping sends one ping and checks the response. A ping without a response counts with the time that
// the generator waited.
func (g *generator) ping(ctx context.Context) (s sample) {
	s.sent = time.Since(g.start)
	status, body, err := loadtest.Do(ctx, g.client, http.MethodGet, g.url("/ping"), nil)
	s.finished = time.Since(g.start)
	switch {
	case errors.Is(err, errNoAnswer):
	case err != nil:
		s.err = err
	case status != http.StatusOK || string(body) != "pong":
		s.err = fmt.Errorf("GET /ping: status %d: %.100q", status, body)
	default:
		s.end = answered
	}
	return s
}

// attack requests an evil match, and then asks the benign question for the same pattern.
func (g *generator) attack(ctx context.Context, c evilCase) (s sample) {
	s.sent = time.Since(g.start)
	v, end, err := g.ask(ctx, c, c.attack())
	s.finished, s.end, s.took = time.Since(g.start), end, v.Took
	if err != nil {
		s.err = fmt.Errorf("attack %s: %w", c.Name, err)
		return s
	}
	v, end, err = g.ask(ctx, c, c.benign())
	switch {
	case err != nil:
		s.err = fmt.Errorf("benign question to %s: %w", c.Name, err)
	case end == stopped:
		s.benign = errors.New(v.Error)
	case end == unanswered:
		s.benign = errNoAnswer
	case v.Matched != c.BenignMatch:
		s.benign = fmt.Errorf("the verdict is %t, not %t", v.Matched, c.BenignMatch)
	}
	return s
}

// ask requests a match of an input. It waits at most for the client's patience.
func (g *generator) ask(ctx context.Context, c evilCase, input string) (v verdict, end ending, err error) {
	text, err := json.Marshal(question{c.Pattern, c.Options, input})
	if err != nil {
		return v, unanswered, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, g.load.Patience, errNoAnswer)
	defer cancel()
	status, body, err := loadtest.Do(ctx, g.client, http.MethodPost, g.url("/match"), text)
	switch {
	case errors.Is(err, errNoAnswer):
		return v, unanswered, nil
	case err != nil:
		return v, unanswered, err
	case status == http.StatusOK:
		end = answered
	case status == http.StatusServiceUnavailable:
		end = stopped
	default:
		return v, unanswered, fmt.Errorf("status %d: %.200s", status, bytes.TrimSpace(body))
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return v, unanswered, fmt.Errorf("%.200q: %w", body, err)
	}
	return v, end, nil
}

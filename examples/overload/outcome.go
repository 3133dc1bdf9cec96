package main

import (
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// lost is the latency that a critical request without a response, or a refused one, counts with:
// its client has to try again, as a client that has stopped waiting does.
const lost = patience

// outcome holds the generator's measurements in one run of a mode, for the requests of the surge.
// Latencies count from the intended start of a request.
type outcome struct {
	Sent             int
	Good             int                // right responses within the time that counts
	GoodOf, SentOf   [3]int             // the same by class
	Paid, Free       tally              // the normal requests, by tenant
	Refused, Expired int                // requests
	Critical         loadtest.Latencies // of all critical requests, see lost
	Answered         loadtest.Latencies // of critical requests with a response
	FirstAction      time.Duration      // of the server, since the surge began
	Acted            bool               // false: it did not act
	Late             time.Duration      // the generator's 99th percentile of lateness, without the burst
	Requests         int                // all requests, including the warm-up
	Used             loadtest.Usage     // by the server, for all requests
	Errors           int
	FirstErr         string // the first of them
}

// tally is a number of requests, and how many had a good response.
type tally struct{ Sent, Good int }

func (t *tally) count(good bool) {
	if t.Sent++; good {
		t.Good++
	}
}

func (t tally) plus(other tally) tally { return tally{t.Sent + other.Sent, t.Good + other.Good} }

func (o *outcome) fail(err error) {
	if o.Errors++; o.Errors == 1 {
		o.FirstErr = err.Error()
	}
}

func summarize(l load, schedule []request, samples []sample) (o outcome) {
	var all, in, behind []time.Duration
	for i, r := range schedule {
		s := samples[i]
		if s.err != nil {
			o.fail(s.err)
			continue
		}
		o.Requests++
		if r.at != l.WarmUp { // a burst takes time to send
			behind = append(behind, s.sent-r.at)
		}
		if r.at < l.WarmUp {
			continue
		}
		o.Sent++
		o.SentOf[r.class]++
		if s.good(r) {
			o.Good++
			o.GoodOf[r.class]++
		}
		switch {
		case r.class != normal:
		case r.tenant == paying:
			o.Paid.count(s.good(r))
		default:
			o.Free.count(s.good(r))
		}
		switch s.end {
		case refused:
			o.Refused++
		case expired:
			o.Expired++
		}
		if r.class != critical {
			continue
		}
		took := lost
		if s.end == answered {
			took = min(s.finished-r.at, lost)
			in = append(in, took)
		}
		all = append(all, took)
	}
	o.Critical, o.Answered = loadtest.SumUp(all), loadtest.SumUp(in)
	o.Late = loadtest.SumUp(behind).P99
	return o
}

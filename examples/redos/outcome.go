package main

import (
	"fmt"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// outcome holds the generator's measurements in one mode.
type outcome struct {
	Pings    loadtest.Latencies // from a ping's intended start: a stalled server cannot hide them
	Attacks  int
	Stopped  int
	Answered int
	Lateness loadtest.Latencies // of the stops: how much longer than the limit the match ran
	Escaped  string             // the first attack that was not stopped
	Benign   int                // benign verdicts that were wrong or missing
	Wrong    string             // the first of them
	Late     time.Duration      // how late the generator sent its requests: the 99th percentile
	Requests int                // all requests, including the warm-up
	Used     loadtest.Usage     // by the server, for all requests
	Errors   int
	FirstErr string // the first of them
}

func summarize(l load, cases []evilCase, schedule []request, samples []sample) (o outcome) {
	var pings, lateness, late []time.Duration
	for i, r := range schedule {
		s := samples[i]
		if s.err != nil {
			if o.Errors++; o.Errors == 1 {
				o.FirstErr = s.err.Error()
			}
			continue
		}
		o.Requests++
		if r.at >= l.WarmUp {
			late = append(late, s.sent-r.at)
		}
		if r.attack == ping {
			if r.at >= l.WarmUp {
				pings = append(pings, s.finished-r.at)
			}
			continue
		}
		o.Attacks++
		switch s.end {
		case stopped:
			o.Stopped++
			lateness = append(lateness, s.took-limit)
		case answered:
			o.Answered++
		}
		if s.end != stopped && o.Escaped == "" {
			o.Escaped = cases[r.attack].Name
		}
		if s.benign != nil {
			if o.Benign++; o.Benign == 1 {
				o.Wrong = fmt.Sprintf("%s: %v", cases[r.attack].Name, s.benign)
			}
		}
	}
	o.Pings, o.Lateness = loadtest.SumUp(pings), loadtest.SumUp(lateness)
	o.Late = loadtest.SumUp(late).P99
	return o
}

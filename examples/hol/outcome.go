package main

import (
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// outcome holds the generator's measurements in one mode. Latencies count from the intended start
// of a request, so that a late generator or a stalled server cannot hide them.
type outcome struct {
	Gets     loadtest.Latencies
	GetCurve loadtest.Curve
	Scans    loadtest.Latencies
	ScansIn  int            // scans completed within the measured time
	Late     time.Duration  // how late the generator sent its requests: the 99th percentile
	Cores    float64        // the server's load
	Requests int            // all requests, including the warm-up
	Used     loadtest.Usage // by the server, for all requests
	Errors   int
	FirstErr string // the first of them
}

func summarize(l load, schedule []request, samples []sample) (o outcome) {
	var took [2][]time.Duration
	var late []time.Duration
	var usages []usage
	end := l.WarmUp + l.Duration
	for i, r := range schedule {
		s := samples[i]
		if s.err != nil {
			if o.Errors++; o.Errors == 1 {
				o.FirstErr = s.err.Error()
			}
			continue
		}
		if r.kind == usageReading {
			usages = append(usages, s.usage)
			continue
		}
		o.Requests++
		if r.kind == scan && l.WarmUp <= s.finished && s.finished < end {
			o.ScansIn++
		}
		if r.at >= l.WarmUp {
			took[r.kind] = append(took[r.kind], s.finished-r.at)
			late = append(late, s.sent-r.at)
		}
	}
	o.GetCurve = loadtest.CurveOf(took[get])
	o.Gets, o.Scans = loadtest.SumUp(took[get]), loadtest.SumUp(took[scan])
	o.Late = loadtest.SumUp(late).P99
	if len(usages) == 2 {
		o.Cores = usages[1].since(usages[0])
	}
	return o
}

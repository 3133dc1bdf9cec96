package main

import (
	"math"
	"slices"
	"time"
)

// outcome is what the generator saw of one mode. Latencies count from the intended start of a request, so that a late
// generator or a stalled server cannot hide them.
type outcome struct {
	Gets     latencies
	Scans    latencies
	ScansIn  int           // scans that were answered within what is measured
	Late     time.Duration // by how much the generator sent its requests too late: the 99th percentile
	Cores    float64       // the server's load
	Errors   int
	FirstErr string // of them
}

// latencies sums up the requests of one kind that began in what is measured.
type latencies struct {
	Count           int
	P50, P99, P99_9 time.Duration
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
		if r.kind == scan && l.WarmUp <= s.finished && s.finished < end {
			o.ScansIn++
		}
		if r.at >= l.WarmUp {
			took[r.kind] = append(took[r.kind], s.finished-r.at)
			late = append(late, s.sent-r.at)
		}
	}
	o.Gets, o.Scans = sumUp(took[get]), sumUp(took[scan])
	slices.Sort(late)
	o.Late = percentile(late, 0.99)
	if len(usages) == 2 {
		o.Cores = usages[1].since(usages[0])
	}
	return o
}

func sumUp(took []time.Duration) latencies {
	slices.Sort(took)
	return latencies{len(took), percentile(took, 0.5), percentile(took, 0.99), percentile(took, 0.999)}
}

// percentile returns the least of the sorted values that at least the share p of them does not exceed (nearest rank),
// and 0 for none.
func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(p * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

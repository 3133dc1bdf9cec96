package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// summary is a mode's figures: medians of its runs, and sums of its counts.
type summary struct {
	Runs             int
	Goodput          float64 // good responses a second
	Sent             int
	Good             int
	GoodOf, SentOf   [3]int
	Paid, Free       tally // the normal requests, by tenant
	Refused, Expired int
	P99, P99Answered time.Duration // of the critical class
	FirstAction      time.Duration
	Acted            int // runs in which there was an action
	Late             time.Duration
	Requests         int            // all requests, including the warm-up
	Used             loadtest.Usage // by the server, for all requests
}

// sumUp summarizes the outcomes of a mode's runs, at least one.
func sumUp(runs []outcome, surge time.Duration) summary {
	s := summary{Runs: len(runs)}
	for _, o := range runs {
		s.Sent, s.Good, s.Refused, s.Expired = s.Sent+o.Sent, s.Good+o.Good, s.Refused+o.Refused, s.Expired+o.Expired
		s.Requests, s.Used = s.Requests+o.Requests, s.Used.Plus(o.Used)
		for c := range classes {
			s.GoodOf[c] += o.GoodOf[c]
			s.SentOf[c] += o.SentOf[c]
		}
		s.Paid, s.Free = s.Paid.plus(o.Paid), s.Free.plus(o.Free)
		if o.Acted {
			s.Acted++
		}
	}
	s.Late = medianOf(runs, func(o outcome) time.Duration { return o.Late })
	s.Goodput = medianOf(runs, func(o outcome) float64 { return float64(o.Good) / surge.Seconds() })
	s.P99 = medianOf(runs, func(o outcome) time.Duration { return o.Critical.P99 })
	s.P99Answered = medianOf(runs, func(o outcome) time.Duration { return o.Answered.P99 })
	s.FirstAction = medianOf(runs, func(o outcome) time.Duration {
		if !o.Acted {
			return surge // at least
		}
		return o.FirstAction
	})
	return s
}

// medianOf returns the middle value of a figure, or the greater of the two middle values if their
// number is even.
func medianOf[T cmp.Ordered](runs []outcome, figure func(outcome) T) T {
	values := make([]T, len(runs))
	for i, o := range runs {
		values[i] = figure(o)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

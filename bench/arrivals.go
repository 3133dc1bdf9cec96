package main

import (
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// dispatchers is how many Ps a process needs that sends at given moments: the dispatcher's sleep
// holds one.
const dispatchers = 4

// grace is how long the answers may take that are left at the end of the arrivals.
const grace = time.Second

// arrivals are the moments of requests that come independently of each other; the same ones for the
// same rate and span.
func arrivals(rate float64, span time.Duration) (moments []time.Duration) {
	loadtest.Poisson(1, 0, rate, span, func(at time.Duration, _ *rand.Rand) { moments = append(moments, at) })
	return moments
}

// sendAt makes requests at those moments, whatever became of the earlier ones, each on the next
// connection that is free. It returns how long each took from its moment, in µs, and how many were
// answered. One without an answer within the grace counts until its end, and its connection is
// replaced.
func sendAt(clients []*httpClient, moments []time.Duration) (took []float64, answers int64, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(dispatchers, runtime.NumCPU())))
	begin := time.Now()
	cut := begin.Add(moments[len(moments)-1] + grace)
	free := make(chan *httpClient, len(clients))
	for _, c := range clients {
		c.conn.SetDeadline(cut)
		free <- c
	}
	took = make([]float64, len(moments))
	errs := make([]error, len(moments))
	loadtest.Dispatch(begin, len(moments), func(i int) time.Duration { return moments[i] }, func(i int) {
		c := <-free
		defer func() { free <- c }()
		errs[i] = c.once()
		took[i] = micros(time.Since(begin) - moments[i])
	})
	for i, err := range errs {
		if err == nil {
			answers++
		} else if errors.Is(err, os.ErrDeadlineExceeded) {
			errs[i] = nil
		}
	}
	for _, c := range clients {
		if c.unsure {
			errs = append(errs, c.again())
		}
	}
	return took, answers, errors.Join(errs...)
}

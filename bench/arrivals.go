package main

import (
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// dispatchers is how many Ps a process needs to send at given times: the dispatcher's sleep keeps
// one.
const dispatchers = 4

// grace is how long responses may take after the end of the arrivals.
const grace = time.Second

// arrivals returns the times of requests that arrive independently of each other; the same times
// for the same rate and span.
func arrivals(rate float64, span time.Duration) (moments []time.Duration) {
	loadtest.Poisson(1, 0, rate, span, func(at time.Duration, _ *rand.Rand) { moments = append(moments, at) })
	return moments
}

// sendAt makes requests at the given times, whether or not earlier requests have their responses,
// each on the next free connection. It returns how long each request took from its time, in µs, and
// the number of responses. A request without a response within the grace counts until the end of
// the grace, and its connection is replaced.
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

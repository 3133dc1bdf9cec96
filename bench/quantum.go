package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/policy"
)

// quanta are the quanta of the curve.
var quanta = []time.Duration{100 * time.Microsecond, 300 * time.Microsecond, time.Millisecond, 3 * time.Millisecond, 10 * time.Millisecond, 30 * time.Millisecond}

const (
	longCrowd = 3                      // long tasks in progress at any time, endlessly
	longWork  = 20 * time.Millisecond  // of each long task, in steps between safe points
	longStep  = 10 * time.Microsecond  //
	shortWork = 50 * time.Microsecond  // of a short task
	shortGap  = 4 * time.Millisecond   // between short tasks, on average
	adaptLow  = 100 * time.Microsecond // the adaptive quantum while a short task waits
	adaptHigh = 10 * time.Millisecond  // the adaptive quantum among long tasks
)

// quantum measures the curve of the quantum: on one slot, long tasks take turns, and short tasks
// arrive in between. A short quantum costs long tasks throughput, and a long quantum costs short
// tasks latency; the adaptive quantum should have both advantages.
func quantum(ctx context.Context, r *report) error {
	return quantumWith(ctx, r, effort{rounds: 3, span: time.Second})
}

func quantumWith(ctx context.Context, r *report, e effort) error {
	adaptive, err := policy.AdaptiveQuantum(adaptLow, adaptHigh)
	if err != nil {
		return err
	}
	sides := []side{quantumSide(&adaptive)}
	names := []string{"adaptive"}
	for _, q := range quanta {
		fixed, err := policy.RoundRobin(q)
		if err != nil {
			return err
		}
		sides, names = append(sides, quantumSide(&fixed)), append(names, q.String())
	}
	sides, names = append(sides, quantumSide(nil)), append(names, "none")
	got, err := medians(ctx, e, sides...)
	if err != nil {
		return err
	}
	none := got[len(got)-1]
	for i, f := range got[1:] {
		r.add(result{Name: names[i+1], Metric: "short_p50", Value: f[0], Unit: "µs", Peer: "adaptive", PeerValue: got[0][0]}, claim{})
		r.add(result{Name: names[i+1], Metric: "short_p99", Value: f[1], Unit: "µs", Peer: "adaptive", PeerValue: got[0][1]}, claim{})
		r.add(result{Name: names[i+1], Metric: "long_work", Value: f[2], Unit: "ms/s", Peer: "adaptive", PeerValue: got[0][2]}, claim{})
	}
	best, name := got[1], names[1]
	for i, f := range got[1:] {
		if f[1] < best[1] {
			best, name = f, names[i+1]
		}
	}
	r.add(result{Name: "adaptive", Metric: "short_p99", Value: got[0][1], Unit: "µs", Peer: name + ", the best", PeerValue: best[1]}, claim{atMost: 1.5})
	r.add(result{Name: "adaptive", Metric: "long_work", Value: got[0][2], Unit: "ms/s", Peer: "none", PeerValue: none[2]}, claim{atLeast: 0.95})
	return nil
}

// quantumSide returns the latency of short tasks at the median and the 99th percentile, in µs, and
// the work of long tasks, in ms a second.
func quantumSide(turns *cocoon.Policy) side {
	return func(ctx context.Context, e effort) (figures, error) {
		return withRuntime(cocoon.Config{Slots: 1}, func(rt *cocoon.Runtime) (figures, error) {
			for _, err := range []error{rt.RegisterSafeFunc("short"), rt.RegisterSafeFunc("long"), rt.RegisterPreemptibleFunc("long")} {
				if err != nil {
					return nil, err
				}
			}
			if turns != nil {
				if _, err := rt.RegisterPolicy(*turns); err != nil {
					return nil, err
				}
			}
			return mixed(ctx, rt, e.span)
		})
	}
}

// mixed runs long tasks and short tasks together for a span.
func mixed(ctx context.Context, rt *cocoon.Runtime, span time.Duration) (figures, error) {
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	var crowd sync.WaitGroup
	var steps atomic.Int64
	iterations := int(speed() * float64(longStep))
	for range longCrowd {
		crowd.Go(func() {
			for ctx.Err() == nil {
				rt.Run(ctx, "long", func(ctx context.Context) error {
					for range int(longWork / longStep) {
						spinFor(iterations)
						steps.Add(1)
						cocoon.SafePoint(ctx)
					}
					return nil
				})
			}
		})
	}
	short := int(speed() * float64(shortWork))
	var mu sync.Mutex
	var took []float64
	random := rand.New(rand.NewPCG(1, 2))
	begin := time.Now()
	for at := begin; ctx.Err() == nil; {
		at = at.Add(time.Duration(random.ExpFloat64() * float64(shortGap)))
		time.Sleep(time.Until(at))
		crowd.Go(func() {
			due := time.Now()
			if rt.Run(ctx, "short", func(context.Context) error { spinFor(short); return nil }) != nil {
				return // the span ended first
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, float64(time.Since(due))/1e3)
		})
	}
	done := float64(steps.Load()) * float64(longStep) / 1e6 / time.Since(begin).Seconds()
	crowd.Wait()
	f, err := quantiles(took)
	if err != nil {
		return nil, fmt.Errorf("short tasks: %w", err)
	}
	return append(f, done), nil
}

// speed is how many iterations of spinFor run in a nanosecond, at best, measured once: so all sides
// do the same work, and a task counts its work and not the time that other processes took.
var speed = sync.OnceValue(func() float64 {
	const n = 1 << 16
	best := time.Duration(1 << 62)
	for range 500 {
		at := time.Now()
		spinFor(n)
		best = min(best, time.Since(at))
	}
	return float64(n) / float64(best)
})

var spun atomic.Uint64

// spinFor does n iterations of work that the compiler cannot eliminate.
func spinFor(n int) {
	x := uint64(n)
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
	}
	if x == 0 {
		spun.Add(1)
	}
}

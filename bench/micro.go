package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// effort is how long to measure.
type effort struct {
	rounds int
	span   time.Duration // of one side of a round
}

// micro measures the cost of the parts, each in comparison with its peer.
func micro(ctx context.Context, r *report) error {
	return microWith(ctx, r, effort{rounds: 5, span: 200 * time.Millisecond})
}

func microWith(ctx context.Context, r *report, e effort) error {
	for _, m := range []struct {
		name    string
		measure func(context.Context, *report, effort) error
	}{
		{"run", microRun}, {"poll", microPoll}, {"switch", microSwitch}, {"eval", microEval}, {"tick", microTick}, {"throw", microThrow}, {"locked", microLocked}, {"procs", microProcs}, {"share", microShare},
	} {
		r.progress("%s", m.name)
		if err := m.measure(ctx, r, e); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// figures are the results of one side of a round.
type figures []float64

// side measures one of the compared things.
type side func(ctx context.Context, e effort) (figures, error)

// medians measures the sides in turn, round after round, so that disturbances of the machine affect
// all sides. It returns the median of each figure of each side.
func medians(ctx context.Context, e effort, sides ...side) ([]figures, error) {
	rounds := make([][]figures, len(sides))
	for range e.rounds {
		for i, measure := range sides {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			f, err := measure(ctx, e)
			if err != nil {
				return nil, err
			}
			rounds[i] = append(rounds[i], f)
		}
	}
	result := make([]figures, len(sides))
	for i, all := range rounds {
		for j := range all[0] {
			var values []float64
			for _, f := range all {
				values = append(values, f[j])
			}
			result[i] = append(result[i], median(values))
		}
	}
	return result, nil
}

// The figures of perOperation.
const (
	ns     = iota
	allocs // whole allocations, as go test -benchmem counts
	bytes_
)

// slice is how long operations are timed together.
const slice = time.Millisecond

// perOperation calls f, which performs n operations, repeatedly for a span. The time of an
// operation is the median of slices of a millisecond: on a shared machine another process takes the
// core for milliseconds, which is not part of the operation's cost. Allocations are counted over
// the whole span.
func perOperation(span time.Duration, f func(n int)) figures {
	n := 1
	for begin := time.Now(); n < 1<<30; n *= 2 {
		at := time.Now()
		f(n)
		if time.Since(at) >= slice/2 && time.Since(begin) >= slice {
			break
		}
	}
	times := make([]float64, 0, 2*span/slice+1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for begin := time.Now(); len(times) == 0 || time.Since(begin) < span && len(times) < cap(times); {
		at := time.Now()
		f(n)
		times = append(times, float64(time.Since(at))/float64(n))
	}
	runtime.ReadMemStats(&after)
	operations := uint64(n * len(times))
	return figures{
		median(times),
		float64((after.Mallocs - before.Mallocs) / operations),
		float64(after.TotalAlloc-before.TotalAlloc) / float64(operations),
	}
}

// quantiles returns the median and the 99th percentile of the values.
func quantiles(values []float64) (figures, error) {
	if len(values) < 100 {
		return nil, fmt.Errorf("%d values are too few for a 99th percentile; want 100", len(values))
	}
	slices.Sort(values)
	return figures{values[(len(values)-1)/2], values[(len(values)*99+99)/100-1]}, nil
}

// withRuntime calls f with a runtime that lives as long as the call, so that a peer's measurement
// runs in a process without it.
func withRuntime(cfg cocoon.Config, f func(rt *cocoon.Runtime) (figures, error)) (figures, error) {
	rt, err := cocoon.New(cfg)
	if err != nil {
		return nil, err
	}
	result, err := f(rt)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if e := rt.Shutdown(ctx); err == nil {
		err = e
	}
	return result, err
}

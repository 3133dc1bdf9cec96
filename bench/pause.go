package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// pauses measures how reporting a stall, and searching for gaps, affect the rest of a process with
// many goroutines. It measures the longest time that a goroutine sees between two wake-ups that
// should be a millisecond apart, less that millisecond. It also measures the longest time that the
// world took to stop, other than for the garbage collector, according to package runtime/metrics;
// the work after that takes microseconds. (The figure of runtime/metrics for the whole stop lasts
// until all threads are woken, when most have long been running.) Meanwhile one task spins without
// a safe point, and another waits for its slot. The peer is the same with reports and gaps turned
// off.
//
// On each side, once a second, the memory is collected, and read by runtime.ReadMemStats, which
// stops the world for as short a time as a profile does. A profile of 100,000 goroutines leaves
// 130 MB, which makes the next collection come sooner; and a collection among so many goroutines
// makes a sleeper on two busy cores up to 20 ms late, in plain Go as well. So the peer of the pause
// is a process that collects, as a process with so many goroutines does.
func pauses(ctx context.Context, r *report) error {
	return pauseWith(ctx, r, effort{rounds: 7, span: 3 * time.Second}, 100_000)
}

// pauseAbove is how much longer a pause may be with a report than without, in ms.
const pauseAbove = 2

func pauseWith(ctx context.Context, r *report, e effort, goroutines int) error {
	gate := make(chan struct{})
	defer close(gate)
	var begun atomic.Int64
	for range goroutines {
		go wait(20, gate, &begun)
	}
	for begun.Load() < int64(goroutines) {
		time.Sleep(time.Millisecond)
	}
	runtime.GC()
	off := cocoon.Config{Slots: 1, StallAfter: -1, Gaps: -1}
	reports, gaps := off, off
	reports.StallAfter, gaps.Gaps = 0, time.Millisecond
	got, err := medians(ctx, e, pauseOf(off), pauseOf(reports), pauseOf(gaps))
	if err != nil {
		return err
	}
	for i, name := range []string{"stall_report", "gap_probe"} {
		r.add(result{Name: name, Metric: "longest_stopping", Value: got[i+1][1], Unit: "ms", Peer: "none", PeerValue: got[0][1]},
			upTo(got[0][1]+pauseAbove))
		r.add(result{Name: name, Metric: "worst_pause", Value: got[i+1][0], Unit: "ms", Peer: "none", PeerValue: got[0][0]},
			upTo(got[0][0]+pauseAbove))
	}
	return nil
}

// wait is a goroutine that waits, depth functions deep.
//
//go:noinline
func wait(depth int, gate chan struct{}, begun *atomic.Int64) int {
	if depth > 0 {
		return wait(depth-1, gate, begun) + 1
	}
	begun.Add(1)
	<-gate
	return 0
}

// pauseOf measures the worst pause while a task spins for the span in a runtime with the given
// configuration.
func pauseOf(cfg cocoon.Config) side {
	return func(ctx context.Context, e effort) (figures, error) {
		logged := make(firstLine, 1)
		cfg.Logger = slog.New(slog.NewTextHandler(logged, nil))
		return withRuntime(cfg, func(rt *cocoon.Runtime) (figures, error) {
			var over atomic.Bool
			running := make(chan struct{})
			spins := rt.Go(ctx, "spins", func(context.Context) error {
				close(running)
				for n := 0; !over.Load(); n++ {
				}
				return nil
			})
			<-running
			waits := rt.Go(ctx, "waits", func(context.Context) error { return nil })
			stops := stopsOfTheWorld()
			worst, last := time.Duration(0), time.Now()
			var collects sync.WaitGroup
			collects.Go(func() {
				for !over.Load() {
					runtime.GC()
					for range 4 {
						time.Sleep(250 * time.Millisecond)
						var stats runtime.MemStats
						runtime.ReadMemStats(&stats)
					}
				}
			})
			// The machine may be busy.
			missing := func() bool { return cfg.StallAfter >= 0 && len(logged) == 0 }
			for end := last.Add(e.span); last.Before(end) || missing() && last.Before(end.Add(9*e.span)); {
				time.Sleep(time.Millisecond)
				now := time.Now()
				worst = max(worst, now.Sub(last)-time.Millisecond)
				last = now
			}
			over.Store(true)
			longest := longestSince(stops)
			collects.Wait()
			err := errors.Join(spins.Wait(ctx), waits.Wait(ctx))
			if missing() {
				err = errors.Join(err, errors.New("the stall was not reported while the task spun"))
			}
			for end := last.Add(9 * e.span); cfg.Gaps > 0 && len(rt.Gaps()) == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) { // the gap is known when its stack is
					err = errors.Join(err, errors.New("no gap was found"))
					break
				}
			}
			return figures{worst.Seconds() * 1e3, longest}, err
		})
	}
}

// firstLine records that something was written.
type firstLine chan struct{}

var _ io.Writer = firstLine(nil)

func (f firstLine) Write(text []byte) (int, error) {
	select {
	case f <- struct{}{}:
	default:
	}
	return len(text), nil
}

// stopsOfTheWorld returns a histogram of how long stops took to begin, other than the collector's.
func stopsOfTheWorld() *metrics.Float64Histogram {
	read := []metrics.Sample{{Name: "/sched/pauses/stopping/other:seconds"}}
	metrics.Read(read)
	return read[0].Value.Float64Histogram()
}

// longestSince returns the upper bound of the longest new stop, in ms.
func longestSince(before *metrics.Float64Histogram) (longest float64) {
	now := stopsOfTheWorld()
	for i, n := range now.Counts {
		if n > before.Counts[i] {
			longest = now.Buckets[i+1] * 1e3
		}
	}
	return longest
}

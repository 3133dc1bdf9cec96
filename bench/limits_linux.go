package main

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"golang.org/x/sys/unix"
)

// limits measures how much processor time a task has had when a limit on its running time throws
// it: alone, and with busy goroutines that Cocoon does not know. The task counts, and the time is
// how long a goroutine alone takes to count as far, by the processor time of its thread. The
// runtime knows only the processor time of the process, and shares it among what was running. Less
// than the limit means that the task was thrown early.
func limits(ctx context.Context, r *report) error {
	perMilli := countPerMilli()
	e := effort{rounds: 9}
	got, err := medians(ctx, e, limitBeside(0, perMilli), limitBeside(6, perMilli), limitBeside(40, perMilli))
	if err != nil {
		return err
	}
	for i, name := range []string{"alone", "beside_6", "beside_40"} {
		// docs/policy.md promises no more than this
		r.add(result{Name: name, Metric: "processor_time", Value: got[i][0], Unit: "ms", Peer: "the limit",
			PeerValue: float64(limitOf.Milliseconds())}, claim{atLeast: 0.5})
	}
	return nil
}

const limitOf = 200 * time.Millisecond

// limitBeside measures a limit while n other goroutines are busy.
func limitBeside(n int, perMilli float64) side {
	return func(ctx context.Context, _ effort) (figures, error) {
		return withRuntime(cocoon.Config{QuietThrows: true}, func(rt *cocoon.Runtime) (figures, error) {
			if _, err := rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "spin", Limit: limitOf}); err != nil {
				return nil, err
			}
			var over atomic.Bool
			var all sync.WaitGroup
			defer all.Wait()
			defer over.Store(true)
			for range n {
				all.Go(func() {
					for !over.Load() {
					}
				})
			}
			steps := 0
			err := rt.Run(ctx, "spin", func(ctx context.Context) error {
				for ; ctx.Err() == nil; steps++ {
					step()
					cocoon.SafePoint(ctx)
				}
				return ctx.Err()
			})
			var thrown *cocoon.PreemptedError
			if !errors.As(err, &thrown) {
				return nil, errors.Join(errors.New("the limit did not throw"), err)
			}
			return figures{float64(steps) / perMilli}, nil
		})
	}
}

var steps uint64

// step takes about 10 µs.
func step() {
	for i := range uint64(10_000) {
		steps = steps*6364136223846793005 + i
	}
}

// countPerMilli returns how many steps a goroutine alone makes in a millisecond of processor time.
func countPerMilli() float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const n = 20_000
	begin := threadTime()
	for range n {
		step()
	}
	return n / (1000 * (threadTime() - begin).Seconds())
}

// threadTime returns the processor time of the calling thread.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

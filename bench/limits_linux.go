package main

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"golang.org/x/sys/unix"
)

// limits measures how much processor time a task has had when a limit on its running time throws
// it: alone, and beside busy goroutines that Cocoon does not know. The operating system tells the
// processor time of the task's thread; the runtime knows only that of the process, and shares it
// among what was running. Less than the limit means that the task was thrown early.
func limits(ctx context.Context, r *report) error {
	e := effort{rounds: 9}
	got, err := medians(ctx, e, limitBeside(0), limitBeside(6))
	if err != nil {
		return err
	}
	for i, name := range []string{"alone", "beside_6"} {
		// docs/policy.md promises no more than this
		r.add(result{Name: name, Metric: "processor_time", Value: got[i][0], Unit: "ms", Peer: "the limit",
			PeerValue: float64(limitOf.Milliseconds())}, claim{atLeast: 0.5})
	}
	return nil
}

const limitOf = 200 * time.Millisecond

// limitBeside measures a limit beside n busy goroutines.
func limitBeside(n int) side {
	return func(ctx context.Context, _ effort) (figures, error) {
		return withRuntime(cocoon.Config{QuietThrows: true}, func(rt *cocoon.Runtime) (figures, error) {
			if _, err := rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "spin", Limit: limitOf}); err != nil {
				return nil, err
			}
			end := make(chan struct{})
			var all sync.WaitGroup
			defer all.Wait()
			defer close(end)
			for range n {
				all.Go(func() {
					for {
						select {
						case <-end:
							return
						default:
						}
					}
				})
			}
			var used time.Duration
			err := rt.Run(ctx, "spin", func(ctx context.Context) error {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				begin := threadTime()
				defer func() { used = threadTime() - begin }()
				for ctx.Err() == nil {
					cocoon.SafePoint(ctx)
				}
				return ctx.Err()
			})
			var thrown *cocoon.PreemptedError
			if !errors.As(err, &thrown) {
				return nil, errors.Join(errors.New("the limit did not throw"), err)
			}
			return figures{used.Seconds() * 1000}, nil
		})
	}
}

// threadTime returns the processor time of the calling thread.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

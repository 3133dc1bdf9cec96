package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// scale measures the throughput of Runs of an empty function on 1, 2, 4, 8 and 16 slots, as far as
// there are cores, with as many goroutines as slots: slots are free, so only what tasks share can
// slow them down. There are as many Ps as slots, without spare ones, so that the collector's work
// for one core is not done by other cores. The peers are multiples of the throughput on one core,
// in the same round.
//
// With almost nothing else on the heap the garbage collector runs all the time. Three variants show
// its share: the same Runs with a tenth of its cycles, Runs in which a policy sheds load, and Runs
// that add to a counter, which show what would be left if all Runs shared one word. The clock,
// which each core reads for itself, is the best case; a semaphore, a channel that all goroutines
// share, is the usual alternative.
func scale(ctx context.Context, r *report) error {
	return scaleWith(ctx, r, effort{rounds: 5, span: 300 * time.Millisecond})
}

func scaleWith(ctx context.Context, r *report, e effort) error {
	things := []struct {
		name  string
		rate  func(cores int) side
		claim claim
	}{
		{"run", runRate(nothing), claim{atLeast: 0.8}},
		{"run_gogc_1000", seldomCollected(runRate(nothing)), claim{atLeast: 0.8}},
		{"run_shedding", seldomCollected(runRate(nothing, shedding)), claim{atLeast: 0.8}},
		{"run_counted", seldomCollected(runRate(counting)), claim{}},
		{"clock", clockRate, claim{}},
		{"semaphore", semaphoreRate, claim{}},
	}
	var sides []side
	for _, x := range things {
		sides = append(sides, x.rate(1))
	}
	var cores []int
	for n := 2; n <= min(16, r.cores); n *= 2 {
		cores = append(cores, n)
		for _, x := range things {
			sides = append(sides, x.rate(n))
		}
	}
	if len(cores) == 0 {
		r.progress("there is one core; with it only the rates of one are measured")
	}
	got, err := medians(ctx, e, sides...)
	if err != nil {
		return err
	}
	for i, x := range things {
		r.add(result{Name: x.name, Metric: "cores_1", Value: got[i][0], Unit: "M/s"}, claim{})
	}
	for j, n := range cores {
		for i, x := range things {
			one, all := got[i][0], got[(j+1)*len(things)+i][0]
			r.add(result{
				Name: x.name, Metric: fmt.Sprintf("cores_%d", n), Value: all, Unit: "M/s",
				Peer: fmt.Sprintf("%d times one core", n), PeerValue: float64(n) * one,
			}, x.claim)
		}
	}
	return nil
}

func runRate(f func(context.Context) error, policies ...cocoon.Policy) func(cores int) side {
	return func(cores int) side {
		return func(ctx context.Context, e effort) (figures, error) {
			return withRuntime(cocoon.Config{Slots: cores, KeepProcs: true}, func(rt *cocoon.Runtime) (figures, error) {
				for _, p := range policies {
					if _, err := rt.RegisterPolicy(p); err != nil {
						return nil, err
					}
				}
				return together(cores, e.span, func(n int) (err error) {
					for range n {
						if e := rt.Run(ctx, "empty", f); e != nil {
							err = e
						}
					}
					return err
				})
			})
		}
	}
}

// shedding refuses tasks while tasks have long been waiting, as a server would.
var shedding = cocoon.Policy{Name: "shedding", On: cocoon.OnEnqueue, Expr: `queue.oldest > duration("50ms") ? throw("overloaded") : continue()`}

// counting is a task that shares a word with all other tasks.
func counting(context.Context) error {
	counter.Add(1)
	return nil
}

var counter atomic.Int64

// seldomCollected makes the heap grow to 40 MiB, instead of 4, between two collections.
func seldomCollected(rate func(cores int) side) func(cores int) side {
	return func(cores int) side {
		return func(ctx context.Context, e effort) (figures, error) {
			defer debug.SetGCPercent(debug.SetGCPercent(1000))
			return rate(cores)(ctx, e)
		}
	}
}

func clockRate(cores int) side {
	return func(_ context.Context, e effort) (figures, error) {
		return together(cores, e.span, func(n int) error {
			for range n {
				_ = time.Now()
			}
			return nil
		})
	}
}

func semaphoreRate(cores int) side {
	return func(_ context.Context, e effort) (figures, error) {
		slots := make(chan struct{}, cores)
		return together(cores, e.span, func(n int) error {
			for range n {
				slots <- struct{}{}
				<-slots
			}
			return nil
		})
	}
}

// together runs f, which performs operations, on the given number of goroutines concurrently for a
// span. The figure is the number of operations a second, in millions, summed over the goroutines.
func together(goroutines int, span time.Duration, f func(n int) error) (figures, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(goroutines))
	const batch = 1000
	rates, errs := make([]float64, goroutines), make([]error, goroutines)
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			<-begin
			start, n := time.Now(), 0
			for time.Since(start) < span && errs[i] == nil {
				errs[i] = f(batch)
				n += batch
			}
			rates[i] = float64(n) / float64(time.Since(start).Microseconds())
		})
	}
	close(begin)
	wg.Wait()
	total := 0.0
	for i, rate := range rates {
		if errs[i] != nil {
			return nil, errs[i]
		}
		total += rate
	}
	return figures{total}, nil
}

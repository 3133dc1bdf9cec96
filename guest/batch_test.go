package guest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/tetratelabs/wazero/api"
)

// A batch makes all its calls, inside and outside of tasks, and gives the instance back.
func TestBatch(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		in := instance(t, compiled(t, c, nil))
		sum := func(ctx context.Context) (sum uint64) {
			err := in.Batch(ctx, "fib", func(_ context.Context, call func([]uint64) error) error {
				stack := make([]uint64, 1)
				for i := range uint64(1000) {
					stack[0] = i % 10
					if err := call(stack); err != nil {
						return err
					}
					sum += stack[0]
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			return sum
		}
		want := uint64(0)
		for i := range uint64(10) {
			r, err := in.Call(background, "fib", i)
			if err != nil {
				t.Fatal(err)
			}
			want += 100 * r[0]
		}
		if got := sum(background); got != want {
			t.Errorf("outside of tasks: %d; want %d", got, want)
		}
		rt.Run(background, "job", func(ctx context.Context) error {
			if got := sum(ctx); got != want {
				t.Errorf("in a task: %d; want %d", got, want)
			}
			return nil
		})
		if in.turns.holder != nil || len(in.live) != 0 {
			t.Errorf("after the batches: %v has the turn, %d are live", in.turns.holder, len(in.live))
		}
	})
}

// A batch of short calls that never look themselves ends when the instance is shut down, and when
// its budget is used up.
func TestBatchEnds(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		endless := func(in *Instance, began func()) error {
			return in.Batch(background, "fib", func(_ context.Context, call func([]uint64) error) error {
				stack := make([]uint64, 1)
				for n := 0; ; n++ {
					if n == 1000 {
						began()
					}
					stack[0] = 1
					if err := call(stack); err != nil {
						return err
					}
				}
			})
		}
		in := instance(t, compiled(t, c, nil))
		err := endless(in, func() { go in.Shutdown(background) })
		var closed *ClosedError
		if !errors.As(err, &closed) && !errors.As(err, new(*cocoon.PreemptedError)) {
			t.Errorf("Shutdown: %v", err)
		}
		if c.Mechanism == Fuel {
			c.Budget = 100_000
			in := instance(t, compiled(t, c, nil))
			if err := endless(in, func() {}); !errors.As(err, new(*FuelError)) {
				t.Errorf("budget: %v", err)
			}
		}
	})
}

// call refuses to run where it would break the guest.
func TestBatchMisplaced(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		var kept func([]uint64) error
		var inside error
		in := instance(t, compiled(t, c, func(_ context.Context, _ api.Module, x uint32) uint32 {
			inside = kept(make([]uint64, 1))
			return x
		}))
		err := in.Batch(background, "call", func(ctx context.Context, call func([]uint64) error) error {
			kept = call
			var elsewhere error
			Block(ctx, func() error { elsewhere = call([]uint64{1}); return nil })
			if elsewhere == nil {
				t.Error("inside Block: no error")
			}
			return call([]uint64{1})
		})
		if err != nil || inside == nil {
			t.Errorf("inside a call: %v; the batch: %v", inside, err)
		}
		if kept([]uint64{1}) == nil {
			t.Error("after the batch: no error")
		}
	})
}

// Calls that find the instance free and calls that do not, from several goroutines, beside Pause,
// Resume and at last Shutdown: all end, and nothing is left.
func TestCallsBesideEverything(t *testing.T) {
	for _, threads := range []bool{false, true} {
		for range 5 {
			rt := tasktest.Start(t, cocoon.Config{Slots: 2, QuietThrows: true})
			in := instance(t, compiled(t, Config{Threads: threads, Loop: rt.Loop()}, nil))
			var all sync.WaitGroup
			for g := range 4 {
				all.Go(func() {
					for i := 0; ; i++ {
						var err error
						if (i+g)%3 == 0 {
							err = in.Batch(background, "fib", func(_ context.Context, call func([]uint64) error) error {
								return call([]uint64{5})
							})
						} else {
							var r []uint64
							if r, err = in.Call(background, "fib", 10); err == nil && r[0] != 55 {
								t.Errorf("fib(10) = %d", r[0])
							}
						}
						if err != nil {
							return
						}
					}
				})
			}
			for range 20 {
				in.Pause()
				time.Sleep(100 * time.Microsecond)
				in.Resume()
				time.Sleep(100 * time.Microsecond)
			}
			if err := in.Shutdown(background); err != nil {
				t.Fatal(err)
			}
			all.Wait()
			in.mu.Lock()
			if len(in.live) != 0 || in.turns.holder != nil || len(in.turns.waiting) != 0 {
				t.Errorf("%d calls are live, %v has the turn, %d wait", len(in.live), in.turns.holder, len(in.turns.waiting))
			}
			in.mu.Unlock()
		}
	}
}

// A call in a task allocates its context, which host functions may keep, and its results. A call in
// a batch allocates nothing.
func TestCallAllocates(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		in := instance(t, compiled(t, c, nil))
		rt.Run(background, "job", func(ctx context.Context) error {
			if n := testing.AllocsPerRun(1000, func() { in.Call(ctx, "fib", 1) }); n > 2 {
				t.Errorf("a call allocates %v times; want 2", n)
			}
			if n := testing.AllocsPerRun(1000, func() { in.Call(ctx, "alloc", 0) }); n > 1 {
				t.Errorf("a call without results allocates %v times; want 1", n)
			}
			return in.Batch(ctx, "fib", func(_ context.Context, call func([]uint64) error) error {
				stack := make([]uint64, 1)
				if n := testing.AllocsPerRun(1000, func() { stack[0] = 1; call(stack) }); n > 0 {
					t.Errorf("a call in a batch allocates %v times; want 0", n)
				}
				return nil
			})
		})
	})
}

// A throw between two calls unwinds the host's function, and leaves the instance open: nothing was
// half-way in the guest.
func TestBatchThrown(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		in := instance(t, compiled(t, c, nil))
		unwound := false
		err := rt.Run(background, "job", func(ctx context.Context) error {
			return in.Batch(ctx, "fib", func(ctx context.Context, call func([]uint64) error) error {
				defer func() { unwound = true }()
				cocoon.TaskOf(ctx).Cancel()
				return call([]uint64{1})
			})
		})
		if !errors.As(err, new(*cocoon.PreemptedError)) || !unwound {
			t.Errorf("err: %v; unwound: %v", err, unwound)
		}
		if _, err := in.Call(background, "fib", 1); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// TestBatchOfThrownContext: a batch whose context ends with a throw as its cause, which the task has
// not noticed or does not get, returns it as an error. A panic would end the process.
func TestBatchOfThrownContext(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		in := instance(t, compiled(t, c, nil))
		ctx, cancel := context.WithCancelCause(background)
		throw := &cocoon.PreemptedError{Task: "request", Reason: "too slow"}
		err := in.Batch(ctx, "fib", func(_ context.Context, call func([]uint64) error) error {
			cancel(throw)
			stack := make([]uint64, 1)
			for {
				stack[0] = 1
				if err := call(stack); err != nil {
					return err
				}
			}
		})
		if !errors.Is(err, throw) {
			t.Errorf("the batch ended with %v; want the throw", err)
		}
	})
}

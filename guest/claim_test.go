package guest

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/tetratelabs/wazero/api"
)

// A call of an instance without other calls takes no lock of the instance: it returns while the
// test has the lock.
func TestCallTakesNoLock(t *testing.T) {
	for _, threads := range []bool{false, true} {
		each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
			c.Threads = threads
			in := instance(t, compiled(t, c, nil))
			in.mu.Lock()
			defer in.mu.Unlock()
			done := make(chan error)
			go func() {
				done <- rt.Run(background, "job", func(ctx context.Context) error {
					for range 3 {
						if _, err := in.Call(ctx, "fib", 10); err != nil {
							return err
						}
					}
					_, err := in.Call(ctx, "trap")
					if err == nil || !strings.Contains(err.Error(), "unreachable") {
						t.Errorf("the trap: %v", err)
					}
					_, err = in.Call(ctx, "fib", 10)
					return err
				})
			}()
			if err := tasktest.Receive(t, "the calls", done); err != nil {
				t.Error(err)
			}
		})
	}
}

// Calls that claim the instance, beside others that come while it is claimed, and that trap, are
// thrown into, call back, pause, or shut the instance down at any moment: one call at a time uses
// the instance, and at the end nothing is left.
func TestClaimsBesideEverything(t *testing.T) {
	for seed := range uint64(longtest.Count(100, 8)) {
		rng := rand.New(rand.NewPCG(seed, 7))
		rt := tasktest.Start(t, cocoon.Config{Slots: 1 + rng.IntN(3), QuietThrows: true})
		c := Config{Threads: seed%4 > 1, Mechanism: mechanisms[seed%2], Loop: rt.Loop(), Slice: 50 * time.Microsecond, Reusable: []string{"spin", "call", "fib"}}
		var in *Instance
		turns := 0 // the race detector sees if two calls have the turn
		in = instance(t, compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
			turns++
			switch x % 4 {
			case 0:
				if x > 0 {
					in.Call(ctx, "call", uint64(x-1))
				}
			case 1:
				Block(ctx, func() error { return nil })
			case 2:
				ctx.Done()
			}
			return x
		}))
		var all sync.WaitGroup
		for range 4 {
			r := rand.New(rand.NewPCG(seed, rng.Uint64()))
			all.Go(func() {
				for closed := (*ClosedError)(nil); ; {
					err := rt.Run(background, "job", func(ctx context.Context) error { return claimed(ctx, t, r, in) })
					if errors.As(err, &closed) {
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(rng.IntN(20_000)) * time.Microsecond)
		if err := in.Shutdown(background); err != nil {
			t.Fatal(err)
		}
		all.Wait()
		in.mu.Lock()
		if a := in.claim.Load(); a != nil || len(in.live) != 0 || in.turns.holder != nil || len(in.turns.waiting) != 0 || in.stacks.taken {
			t.Errorf("seed %d: %v has claimed it, %d calls are live, %v has the turn, %d wait, the stack is taken: %v",
				seed, a, len(in.live), in.turns.holder, len(in.turns.waiting), in.stacks.taken)
		}
		in.mu.Unlock()
	}
}

// claimed makes some call of the instance, and returns the error if the instance is closed.
func claimed(ctx context.Context, t *testing.T, r *rand.Rand, in *Instance) (err error) {
	switch r.IntN(8) {
	case 0:
		_, err = in.Call(ctx, "trap")
	case 1:
		short, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Duration(r.IntN(200))*time.Microsecond, cancel)
		_, err = in.Call(short, "spin")
	case 2:
		cocoon.TaskOf(ctx).Cancel()
		_, err = in.Call(ctx, "fib", 15)
	case 3:
		in.Pause()
		in.Resume()
	case 4:
		_, err = in.Call(ctx, "call", r.Uint64N(8))
	case 5:
		err = in.Batch(ctx, "fib", func(_ context.Context, call func([]uint64) error) error { return call([]uint64{5}) })
	default:
		var got []uint64
		if got, err = in.Call(ctx, "fib", 10); err == nil && got[0] != 55 {
			t.Errorf("fib(10) = %d", got[0])
		}
	}
	return err
}

// A context that a host function keeps leads to no call after the call's end: Block with it leaves
// the turn to the thread that has it.
func TestKeptContext(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		var kept context.Context
		has, ends := make(chan struct{}), make(chan struct{})
		in := instance(t, compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
			if x == 0 {
				kept = ctx
			} else {
				close(has)
				cocoon.Block(ctx, func() error { <-ends; return nil })
			}
			return x
		}))
		err := rt.Run(background, "job", func(ctx context.Context) error {
			if _, err := in.Call(ctx, "call", 0); err != nil {
				return err
			}
			thread := in.Spawn(ctx, "call", 1)
			cocoon.Block(ctx, func() error { <-has; return nil })
			before := in.holder()
			Block(kept, func() error {
				if now := in.holder(); now != before {
					t.Error("Block has taken the turn from the thread that has it")
				}
				return nil
			})
			close(ends)
			_, err := thread.Wait(ctx)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// A context that a host function keeps ends with the call, even if its end was never asked for
// before: a long task with many calls keeps nothing of them.
func TestKeptContextEnds(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		var kept context.Context
		in := instance(t, compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
			kept = ctx
			return x
		}))
		err := rt.Run(background, "job", func(ctx context.Context) error {
			if _, err := in.Call(ctx, "call", 1); err != nil {
				return err
			}
			select {
			case <-kept.Done():
			default:
				t.Error("after the call its context has not ended")
			}
			if kept.Err() == nil || ctx.Err() != nil {
				t.Errorf("the call's context ended with %v, the task's with %v", kept.Err(), ctx.Err())
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

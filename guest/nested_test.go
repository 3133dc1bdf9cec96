package guest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/tetratelabs/wazero/api"
)

// A guest whose host function calls another instance has one budget with it, and one slice: at any
// pace, which depends on the machine, the calls end at the same instructions. The host function
// ignores that the call of the other instance fails.
func TestNestedFuel(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1, QuietThrows: true})
	for _, threads := range []bool{false, true} {
		var first string
		for _, pace := range []int64{leastUnits, 1 << 13, 1 << 16, mostUnits} {
			var other *Instance
			calls, failed := 0, 0
			m := compiled(t, Config{Threads: threads, Mechanism: Fuel, Loop: rt.Loop(), Budget: 100_000, FuelSlice: 30_000, Reusable: []string{"count"}}, func(ctx context.Context, _ api.Module, x uint32) uint32 {
				calls++
				if _, err := other.Call(ctx, "count", 100); err != nil {
					failed++
				}
				return x
			})
			in := instance(t, m)
			other = instance(t, m)
			in.pace.units, other.pace.units = pace, pace
			thread := in.Spawn(background, "calls")
			_, err := thread.Wait(background)
			var fuel *FuelError
			if !errors.As(err, &fuel) {
				t.Fatalf("threads %v, pace %d: %v; want a *FuelError", threads, pace, err)
			}
			got := fmt.Sprint(calls, " calls of which ", failed, " failed, ", fuel.Used, " units of fuel")
			if first == "" {
				first = got
			}
			if got != first || fuel.Used > fuel.Budget+1000 {
				t.Errorf("threads %v, pace %d: %s; with another pace: %s; the budget is %d", threads, pace, got, first, fuel.Budget)
			}
		}
	}
}

// The fuel of calls in other instances counts for the frame, once for each instance: a guest whose
// host function calls another instance, and this one the guest's again, pays for them in the next
// frames. At any pace it stops at the same instructions.
func TestNestedFrame(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1})
	for _, c := range []Config{{Threads: true}, {}, {Deterministic: true, FuelSlice: 10_000}} {
		for _, pace := range []int64{leastUnits, 1 << 13, mostUnits} {
			var in, other *Instance
			rounds := 0
			c.Mechanism, c.Loop = Fuel, rt.Loop()
			m := compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
				if x == 2 {
					in.Call(ctx, "count", 200)
					return x
				}
				rounds++
				other.Call(ctx, "call", 2)
				other.Call(ctx, "count", 300)
				return x
			})
			in, other = instance(t, m), instance(t, m)
			other.Resume()
			in.Pause()
			in.pace.units, other.pace.units = pace, pace
			thread := in.Spawn(background, "calls")
			spent := int64(0)
			for frame := range 9 {
				if left, err := in.RunFuel(background, 500); left != 1 || err != nil {
					t.Fatal(left, err)
				}
				spent = 500*int64(frame+1) - in.frame.left.Load()
			}
			if used := thread.FuelUsed(); used != spent || rounds != 2 {
				t.Errorf("%+v, pace %d: %d rounds and %d units; the frames have %d", c, pace, rounds, used, spent)
			}
			thread.Cancel()
		}
	}
}

// A call of another instance, in a host function, continues the slice of its caller. Otherwise a
// guest that often makes such calls would never let other tasks go first.
func TestNestedSlice(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		for _, threads := range []bool{false, true} {
			var other *Instance
			c.Threads, c.Slice = threads, time.Hour
			m := compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
				acc := activationOf(ctx).account
				before := acc.until
				for range 3 {
					if _, err := other.Call(ctx, "fib", 10); err != nil {
						t.Error(err)
					}
				}
				if acc.until != before {
					t.Errorf("threads %v: the slice ends %v later", threads, time.Duration(acc.until-before))
				}
				return x
			})
			in := instance(t, m)
			other = instance(t, m)
			if _, err := in.Call(background, "call", 1); err != nil {
				t.Error(err)
			}
		}
	})
}

// A guest whose slice ends while it calls another instance looks at its next safe point, although it
// gets the turn anew each time.
func TestNestedSliceEnds(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		var other *Instance
		calls := 0
		c.Slice = time.Hour
		m := compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
			const past = 1
			acc := activationOf(ctx).account
			if calls++; calls > 1 {
				if acc.until == past {
					t.Error("the guest has not looked")
				}
				return 0
			}
			acc.until = past
			other.Call(ctx, "trap") // it has no safe point
			return x
		})
		in := instance(t, m)
		other = instance(t, m)
		if _, err := in.Call(background, "calls"); err != nil {
			t.Error(err)
		}
	})
}

package guest

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/tetratelabs/wazero/api"
)

// ids returns the order in which the threads of function trace have run.
func ids(in *Instance) string {
	n, _ := in.Memory().ReadUint32Le(4092)
	b, _ := in.Memory().Read(4096, n)
	for i := range b {
		b[i] += 'a'
	}
	return string(b)
}

// TestThreadsTakeTurns: threads of one instance take turns by their slices, on one slot and on
// several. On a crowded machine the turns of a short run can be few, so the threads run longer then.
func TestThreadsTakeTurns(t *testing.T) {
	const many, longest = 12, 80_000_000
	for _, slots := range []int{1, 3} {
		for _, m := range mechanisms {
			rt := tasktest.Start(t, cocoon.Config{Slots: slots})
			c := compiled(t, Config{Threads: true, Mechanism: m, Loop: rt.Loop(), Slice: time.Millisecond}, nil)
			got := ""
			for n := longtest.Count(30_000_000, 5_000_000); len(got) < many && n <= longest; n *= 2 {
				in := instance(t, c)
				var all []*Thread
				for id := range uint64(3) {
					all = append(all, in.Spawn(background, "trace", id, uint64(n)))
				}
				for _, th := range all {
					if _, err := th.Wait(background); err != nil {
						t.Fatal(err)
					}
				}
				got = ids(in)
			}
			if len(got) < many {
				t.Errorf("%v, %d slots: the threads ran in the order %q; want many turns", m, slots, got)
			}
		}
	}
}

// TestStacks: threads that are suspended half-way keep their data on stacks of their own, and calls
// nested in others do not overwrite theirs.
func TestStacks(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		c.Slice = 200 * time.Microsecond
		var in *Instance
		in = instance(t, compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
			got, err := in.Call(ctx, "onstack", uint64(x))
			if err != nil || got[0] != uint64(x) {
				t.Errorf("onstack(%d) nested: %d, %v", x, got, err)
			}
			return x
		}))
		for range 2 {
			var all []*Thread
			for id := range uint64(4) {
				all = append(all, in.Spawn(background, []string{"onstack", "call"}[id%2], id))
			}
			for id, th := range all {
				got, err := th.Wait(background)
				if err != nil || got[0] != uint64(id) {
					t.Errorf("thread %d: %d, %v", id, got, err)
				}
			}
		}
		if n := len(in.stacks.free); n != 3 || in.stacks.taken {
			t.Errorf("%d stacks were made and are free, taken %v; want 3 of 4 threads", n, in.stacks.taken)
		}
	})
}

// TestDeterministic: with fuel, the interleaving depends on the seed only.
func TestDeterministic(t *testing.T) {
	order := func(seed uint64, slots int) string {
		rt := tasktest.Start(t, cocoon.Config{Slots: slots})
		in := instance(t, compiled(t, Config{Threads: true, Mechanism: Fuel, Loop: rt.Loop(), FuelSlice: 10_000, Deterministic: true, Seed: seed}, nil))
		var all []*Thread
		for id := range uint64(5) {
			all = append(all, in.Spawn(background, "trace", id, 20_000))
		}
		if n, err := in.RunFor(background, 20*time.Second); n != 0 || err != nil {
			t.Fatalf("RunFor: %d left, %v", n, err)
		}
		for _, th := range all {
			if _, err := th.Wait(background); err != nil {
				t.Fatal(err)
			}
		}
		return ids(in)
	}
	first := order(1, 1)
	if len(first) < 50 {
		t.Errorf("the threads ran in the order %q; want many turns", first)
	}
	for slots := range 4 {
		if got := order(1, slots+1); got != first {
			t.Errorf("%d slots: the threads ran in the order\n%q, the first time\n%q", slots+1, got, first)
		}
	}
	if got := order(2, 1); got == first {
		t.Errorf("two seeds have the same order %q", got)
	}
}

// TestRunFor: threads run only inside RunFor, and are stopped half-way at its end.
func TestRunFor(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		in := instance(t, compiled(t, c, nil))
		in.Pause()
		a, b := in.Spawn(background, "spin"), in.Spawn(background, "spin")
		used := func() time.Duration { return a.Task().Account().Running + b.Task().Account().Running }
		soon(t, "the threads wait", func() bool { return a.Task() != nil && b.Task() != nil })
		soon(t, "the threads run for 30 ms", func() bool {
			if n, err := in.RunFor(background, 20*time.Millisecond); n != 2 || err != nil {
				t.Fatalf("RunFor: %d left, %v", n, err)
			}
			return used() >= 30*time.Millisecond
		})
		soon(t, "the threads are stopped", func() bool {
			in.mu.Lock()
			defer in.mu.Unlock()
			return in.turns.holder == nil && rt.Loop().Stats().Busy == 0
		})
		was := used()
		time.Sleep(5 * time.Millisecond)
		if now := used(); now != was {
			t.Errorf("paused threads ran for %v", now-was)
		}
		ctx, cancel := context.WithCancel(background)
		cancel()
		if _, err := in.RunFor(ctx, time.Hour); !errors.Is(err, context.Canceled) {
			t.Errorf("RunFor with an ended context: %v", err)
		}
	})
}

// TestShutdown: Shutdown ends threads that run, are suspended, wait for their turn or for a slot,
// or block, and leaves nothing behind.
func TestShutdown(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("", func(t *testing.T) {
		each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
			blocked := make(chan struct{})
			var unwound atomic.Int32
			m := compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
				defer unwound.Add(1)
				Block(ctx, func() error { close(blocked); <-ctx.Done(); return nil })
				return x
			})
			for _, paused := range []bool{false, true} {
				in, err := m.Instantiate(background, nil)
				if err != nil {
					t.Fatal(err)
				}
				blocked = make(chan struct{})
				all := []*Thread{in.Spawn(background, "call", 1)}
				<-blocked
				if paused {
					in.Pause()
				}
				for range 5 {
					all = append(all, in.Spawn(background, "spin"))
				}
				ctx, cancel := context.WithTimeout(background, 10*time.Second)
				if err := in.Shutdown(ctx); err != nil {
					t.Errorf("Shutdown: %v", err)
				}
				cancel()
				for i, th := range all {
					select {
					case <-th.Done():
					case <-time.After(time.Second):
						t.Fatal("a thread has not ended")
					}
					// the first may return: its host function does, and there is no safe point
					// after it
					if _, err := th.Wait(background); err == nil && i > 0 {
						t.Error("a thread that was shut down has no error")
					}
				}
				if _, err := in.Call(background, "fib", 1); !errors.Is(err, ErrShutdown) {
					t.Errorf("Call after Shutdown: %v", err)
				}
				if err := in.Shutdown(background); err != nil {
					t.Errorf("second Shutdown: %v", err)
				}
			}
			if unwound.Load() != 2 {
				t.Errorf("%d of 2 host functions made their deferred calls", unwound.Load())
			}
		})
	})
	soon(t, "the goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}

// TestFuel: a thread ends when its budget is used up, at the same count each time, and goes on when
// it gets more. A policy on the event "fuel" can stop it earlier.
func TestFuel(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 2, QuietThrows: true})
	m := compiled(t, Config{Threads: true, Mechanism: Fuel, Loop: rt.Loop(), Budget: 1_000_000, FuelSlice: 30_000}, nil)
	var used int64
	for i := range 5 {
		in := instance(t, m)
		var e *FuelError
		th := in.Spawn(background, "spin")
		if _, err := th.Wait(background); !errors.As(err, &e) {
			t.Fatalf("the thread ended with %v; want a FuelError", err)
		}
		if i > 0 && e.Used != used || e.Used < 1_000_000 || e.Used > 1_000_100 || e.Used != th.FuelUsed() {
			t.Errorf("stopped at %d, %d; the first time at %d", e.Used, th.FuelUsed(), used)
		}
		used = e.Used
	}
	in := instance(t, m)
	in.Pause()
	th := in.Spawn(background, "count", 1_000_000)
	th.AddFuel(1 << 40)
	in.Resume()
	if _, err := th.Wait(background); err != nil {
		t.Errorf("with more fuel: %v", err)
	}
	_, err := rt.RegisterPolicy(cocoon.Policy{Name: "fuel", On: cocoon.OnNotify(FuelEvent),
		Expr: `task.name == "guest.spin" and event.value > 100000 ? throw("out of fuel") : continue()`})
	if err != nil {
		t.Fatal(err)
	}
	var p *cocoon.PreemptedError
	th = instance(t, m).Spawn(background, "spin")
	if _, err := th.Wait(background); !errors.As(err, &p) || p.Policy != "fuel" {
		t.Errorf("with a policy: %v", err)
	}
	if n := th.FuelUsed(); n < 100_000 || n > 150_000 {
		t.Errorf("the policy stopped the thread after %d units", n)
	}
}

// TestCrosswise: two instances that call each other through the host, and themselves, do not
// deadlock.
func TestCrosswise(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		c.Slice = 50 * time.Microsecond
		var a, b *Instance
		m := compiled(t, c, func(ctx context.Context, mod api.Module, x uint32) uint32 {
			if x == 0 {
				return 0
			}
			other := a
			if mod == a.Module() && x%3 != 0 {
				other = b
			}
			got, err := other.Call(ctx, "call", uint64(x-1))
			if err != nil {
				t.Error(err)
				return 0
			}
			return uint32(got[0]) + 1
		})
		a, b = instance(t, m), instance(t, m)
		var all []*Thread
		for i := range 8 {
			all = append(all, []*Instance{a, b}[i%2].Spawn(background, "call", 20))
		}
		for _, th := range all {
			if got, err := th.Wait(background); err != nil || got[0] != 20 {
				t.Errorf("%d, %v", got, err)
			}
		}
	})
}

// TestBlockInBlock: inside Block, another Block and a call of the instance leave the turn of the
// other threads alone.
func TestBlockInBlock(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		var in *Instance
		nothing := func() error { return nil }
		in = instance(t, compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
			err := Block(ctx, func() error {
				for range 200 {
					if err := Block(ctx, nothing); err != nil {
						return err
					}
				}
				_, err := in.Call(ctx, "count", 100_000)
				return err
			})
			if err != nil {
				t.Error(err)
			}
			return x
		}))
		for range longtest.Count(5, 1) {
			var all []*Thread
			for id := range uint64(3) {
				all = append(all, in.Spawn(background, "onstack", id), in.Spawn(background, "call", id))
			}
			ctx, cancel := context.WithTimeout(background, 30*time.Second)
			for i, th := range all {
				if got, err := th.Wait(ctx); err != nil || got[0] != uint64(i/2) {
					t.Fatalf("thread %d: %d, %v", i, got, err)
				}
			}
			cancel()
		}
	})
}

// TestBlockEndsInBlock: a throw and a panic inside of two Blocks unwind both, and the instance
// works afterwards.
func TestBlockEndsInBlock(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 2})
	end := func() error { panic("of the host") }
	in := instance(t, compiled(t, Config{Threads: true, Loop: rt.Loop(), Reusable: []string{"call"}}, func(ctx context.Context, _ api.Module, x uint32) uint32 {
		Block(ctx, func() error { return Block(ctx, end) })
		cocoon.SafePoint(ctx)
		return x
	}))
	if _, err := in.Call(background, "call", 1); err == nil {
		t.Error("the panic was lost")
	}
	begun := make(chan struct{})
	ended := make(chan struct{})
	end = func() error { close(begun); <-ended; return nil }
	th := in.Spawn(background, "call", 2)
	<-begun
	th.Cancel()
	close(ended)
	_, err := th.Wait(background)
	thrown(t, "a call in two Blocks", err)
	if got, err := in.Call(background, "count", 10); err != nil || got[0] != 10 {
		t.Errorf("afterwards: %d, %v", got, err)
	}
}

// TestNestedWithoutEnd: a guest and a host that call each other without end get an error.
func TestNestedWithoutEnd(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		for _, c.Threads = range []bool{false, true} {
			var in *Instance
			var deepest error
			depth := 0
			in = instance(t, compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
				depth++
				if _, err := in.Call(ctx, "call", uint64(x)); deepest == nil {
					deepest = err
				}
				return x
			}))
			got, err := in.Call(background, "call", 7)
			if err != nil || got[0] != 7 || !errors.Is(deepest, errNested) || depth != maxNested+1 {
				t.Errorf("%d, %v; %d deep: %v", got, err, depth, deepest)
			}
		}
	})
}

// TestFuelSwitch: a policy on the event "fuel" suspends a preemptible thread for a task that waits,
// and the thread goes on afterwards.
func TestFuelSwitch(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1, KeepProcs: true})
	m := compiled(t, Config{Threads: true, Mechanism: Fuel, Loop: rt.Loop(), Slice: time.Hour, FuelSlice: 30_000}, nil)
	if err := rt.LoadPolicies(strings.NewReader(`version: 1
tasks: {guest.spin: preemptible, other: safe}
policies:
  - name: fuel
    event: fuel
    expr: 'task.name == "guest.spin" and event.value > 100000 and queue.length > 0 ? switch() : continue()'
`)); err != nil {
		t.Fatal(err)
	}
	th := instance(t, m).Spawn(background, "spin")
	soon(t, "the thread runs", func() bool { return th.FuelUsed() > 0 })
	soon(t, "the policy switches", func() bool {
		if err := rt.Run(background, "other", func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
		return rt.Policy("fuel").Stats().Switches > 0
	})
	if a := th.Task().Account(); a.Preemptions == 0 {
		t.Errorf("the thread was not suspended: %+v", a)
	}
	used := th.FuelUsed()
	soon(t, "the thread goes on", func() bool { return th.FuelUsed() > used })
}

// TestContextEndsWhileWaitingForTheTurn: such a call was stopped half-way, so its instance closes.
func TestContextEndsWhileWaitingForTheTurn(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 2})
	blocked, resume := make(chan struct{}), make(chan struct{})
	c := Config{Threads: true, Loop: rt.Loop(), Slice: time.Hour, Reusable: []string{"spin"}}
	in := instance(t, compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
		Block(ctx, func() error { close(blocked); <-resume; return nil })
		return x
	}))
	ctx, cancel := context.WithCancel(background)
	waits := in.Spawn(ctx, "call", 1)
	<-blocked
	spins := in.Spawn(background, "spin")
	soon(t, "the other thread has the turn", func() bool { return spins.Task() != nil })
	close(resume)
	time.Sleep(5 * time.Millisecond) // it waits for the turn now; if not yet, its context ends earlier
	cancel()
	spins.Cancel() // a call unwinds with the turn
	if _, err := waits.Wait(background); !errors.Is(err, context.Canceled) {
		t.Errorf("the call that waited ended with %v", err)
	}
	if _, err := spins.Wait(background); err == nil {
		t.Error("the other thread ended by itself")
	}
	if _, err := in.Call(background, "fib", 1); err == nil || !strings.Contains(err.Error(), "call was stopped half-way") {
		t.Errorf("Call afterwards: %v", err)
	}
}

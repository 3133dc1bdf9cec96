package guest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/tetratelabs/wazero/api"
)

// whole runs the test for both mechanisms, without Config.Threads.
func whole(t *testing.T, test func(t *testing.T, rt *cocoon.Runtime, c Config)) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		c.Threads = false
		test(t, rt, c)
	})
}

// TestCallsAreWhole: without Threads, a call of an instance begins when the one before has ended,
// also while that one is paused.
func TestCallsAreWhole(t *testing.T) {
	whole(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		c.Slice = 100 * time.Microsecond
		in := instance(t, compiled(t, c, nil))
		in.Pause()
		var all []*Thread
		for id := range uint64(3) {
			all = append(all, in.Spawn(background, "trace", id+1, 3_000_000))
			soon(t, "the thread waits", func() bool { return all[id].Account().Blocked > 0 })
		}
		for range 3 {
			if _, err := in.RunFor(background, time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		in.Resume()
		for _, th := range all {
			result(t, th)
		}
		if got := ids(in); got != "bcd" {
			t.Errorf("the calls ran in the order %q; want one after the other", got)
		}
	})
}

// TestStackPointerStays: what the host or a call leaves on the guest's stack is there in the next
// call, as Emscripten's stackAlloc needs it.
func TestStackPointerStays(t *testing.T) {
	for _, threads := range []bool{false, true} {
		each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
			c.Threads = threads
			in := instance(t, compiled(t, c, nil))
			if !threads {
				in.Module().ExportedGlobal("__stack_pointer").(api.MutableGlobal).Set(65000)
			} else if _, err := in.Call(background, "alloc", 536); err != nil {
				t.Fatal(err)
			}
			if _, err := in.Call(background, "onstack", 77); err != nil {
				t.Fatal(err)
			}
			if v, _ := in.Memory().ReadUint64Le(65000 - 16); v != 77 {
				t.Errorf("threads %v: the next call did not use the stack below 65000", threads)
			}
		})
	}
}

// TestNestedInItself: a host function may call the instance that called it, in all modes.
func TestNestedInItself(t *testing.T) {
	for name, set := range map[string]func(*Config){
		"whole": func(*Config) {}, "threads": func(c *Config) { c.Threads = true },
		"deterministic": func(c *Config) { c.Deterministic, c.FuelSlice = true, 1000 },
	} {
		t.Run(name, func(t *testing.T) {
			rt := tasktest.Start(t, cocoon.Config{Slots: 1})
			c := Config{Mechanism: Fuel, Loop: rt.Loop()}
			set(&c)
			var in *Instance
			in = instance(t, compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
				if x == 0 {
					got, err := in.Call(ctx, "count", 100_000)
					if err != nil {
						t.Error(err)
					}
					return uint32(got[0])
				}
				got, err := in.Call(ctx, "call", uint64(x-1))
				if err != nil {
					t.Error(err)
				}
				return uint32(got[0]) + 1
			}))
			in.Resume()
			th := in.Spawn(background, "call", 5)
			if got := result(t, th); got != 100_005 {
				t.Errorf("%d", got)
			}
			if used := th.FuelUsed(); used < 300_000 {
				t.Errorf("the thread used %d units of fuel; want those of the nested calls, too", used)
			}
		})
	}
}

// TestCircle: calls of guests that wait for each other fail instead of waiting without end.
func TestCircle(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 2})
	var a, b *Instance
	var met sync.WaitGroup
	met.Add(2)
	m := compiled(t, Config{Loop: rt.Loop()}, func(ctx context.Context, mod api.Module, x uint32) uint32 {
		if x == 0 {
			return 0
		}
		met.Done()
		cocoon.Block(ctx, func() error { met.Wait(); return nil })
		other := a
		if mod == a.Module() {
			other = b
		}
		if _, err := other.Call(ctx, "call", 0); err != nil {
			panic(err)
		}
		return 1
	})
	a, b = instance(t, m), instance(t, m)
	x, y := a.Spawn(background, "call", 1), b.Spawn(background, "call", 1)
	_, err1 := x.Wait(background)
	_, err2 := y.Wait(background)
	if err := errors.Join(err1, err2); err == nil || (err1 == nil) == (err2 == nil) || !strings.Contains(err.Error(), "waits for a call that waits for its own caller") {
		t.Errorf("the calls ended with %v and %v; want that one fails", err1, err2)
	}
}

// TestShutdownOfASection: Shutdown ends the context of a call that is a section of a task.
func TestShutdownOfASection(t *testing.T) {
	whole(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		begun := make(chan struct{})
		var once sync.Once
		m := compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
			once.Do(func() { close(begun) })
			Block(ctx, func() error { <-ctx.Done(); return nil })
			return x
		})
		in := instance(t, m)
		h := rt.Go(background, "request", func(ctx context.Context) error {
			_, err := in.Call(ctx, "calls")
			if !errors.Is(err, ErrShutdown) {
				t.Errorf("the call ended with %v", err)
			}
			if ctx.Err() != nil {
				t.Error("the task's context has ended")
			}
			return nil
		})
		<-begun
		ctx, cancel := context.WithTimeout(background, 10*time.Second)
		defer cancel()
		if err := in.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := h.Wait(background); err != nil {
			t.Error(err)
		}
	})
}

// TestSectionThatYields: a call inside a task ends with its context also if the guest gives up its
// turn in a loop, and so gets its amount anew before it has used it up.
func TestSectionThatYields(t *testing.T) {
	yields := func(t *testing.T, rt *cocoon.Runtime, c Config) {
		gives := compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
			Block(ctx, func() error { return nil })
			return x
		})
		for _, x := range []struct {
			in       *Instance
			function string
			args     []uint64
		}{{instance(t, wasiModule(t, c)), "await", []uint64{5000}}, {instance(t, gives), "calls", nil}} {
			h := rt.Go(background, "request", func(ctx context.Context) error {
				ctx, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
				defer cancel()
				if _, err := x.in.Call(ctx, x.function, x.args...); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s ended with %v", x.function, err)
				}
				return nil
			})
			ctx, cancel := context.WithTimeout(background, 5*time.Second)
			if err := h.Wait(ctx); err != nil {
				t.Errorf("%s: %v", x.function, err)
				h.Cancel()
			}
			cancel()
		}
	}
	each(t, yields)
	whole(t, yields)
}

// TestEndBeforeTurn: a call whose context ends while it waits for its turn says which call it is.
func TestEndBeforeTurn(t *testing.T) {
	whole(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		in := instance(t, compiled(t, c, nil))
		spins := in.Spawn(background, "spin")
		soon(t, "the guest runs", func() bool { return spins.Task() != nil })
		ctx, cancel := context.WithTimeout(background, 10*time.Millisecond)
		defer cancel()
		_, err := in.Call(ctx, "fib", 1)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "guest.fib") {
			t.Errorf("the call ended with %v", err)
		}
	})
}

// TestSlowHostFunctions: a guest that calls slow functions of the host is stopped soon.
func TestSlowHostFunctions(t *testing.T) {
	whole(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		calls := 0
		in := instance(t, compiled(t, c, func(context.Context, api.Module, uint32) uint32 {
			calls++
			time.Sleep(time.Millisecond)
			return 1
		}))
		ctx, cancel := context.WithTimeout(background, 50*time.Millisecond)
		defer cancel()
		if _, err := in.Call(ctx, "calls"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the call ended with %v", err)
		}
		if calls > 500 {
			t.Errorf("the guest called the host %d times", calls)
		}
	})
}

// TestWaitForOneself: a call that waits for another call of its own instance gets an error.
func TestWaitForOneself(t *testing.T) {
	whole(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		var in *Instance
		in = instance(t, compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
			if _, err := in.Spawn(ctx, "fib", 3).Wait(ctx); err == nil || !strings.Contains(err.Error(), "Config.Threads") {
				t.Errorf("Wait: %v", err)
			}
			return x
		}))
		if _, err := in.Call(background, "call", 1); err != nil {
			t.Error(err)
		}
	})
}

// TestShortCalls: a loop of calls, each too short for a safe point, is stopped.
func TestShortCalls(t *testing.T) {
	whole(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		in := instance(t, compiled(t, c, nil))
		running := make(chan struct{})
		var once sync.Once
		h := rt.Go(background, "load", func(ctx context.Context) error {
			for {
				if _, err := in.Call(ctx, "count", 100); err != nil {
					return err
				}
				once.Do(func() { close(running) })
			}
		})
		<-running
		h.Cancel()
		select {
		case <-h.Done():
		case <-time.After(10 * time.Second):
			t.Error("the task goes on after Cancel")
			in.Shutdown(background)
		}
	})
}

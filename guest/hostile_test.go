package guest

import (
	"context"
	"errors"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// thrown checks that an error is a throw.
func thrown(t *testing.T, what string, err error) {
	t.Helper()
	var p *cocoon.PreemptedError
	if !errors.As(err, &p) {
		t.Errorf("%s ended with %v; want a throw", what, err)
	}
}

// TestCallsInLoop: a guest that does nothing but call the host lets other tasks run, and a limit
// stops it.
func TestCallsInLoop(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		if _, err := rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "guest.calls", Limit: 50 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		m := compiled(t, c, func(_ context.Context, _ api.Module, x uint32) uint32 { return x })
		th := instance(t, m).Spawn(background, "calls")
		soon(t, "the guest runs", func() bool { return th.Task() != nil })
		if got, err := instance(t, m).Call(background, "fib", 10); err != nil || got[0] != 55 {
			t.Errorf("beside it: %d, %v", got, err)
		}
		_, err := th.Wait(background)
		thrown(t, "the guest", err)
	})
}

// TestBlocksInWASI: guests that wait in WASI without end leave the slot to others. A throw ends a
// sleep at once. It ends the rest when the file that they wait for is ready or closed, and a
// function that passes no safe point after that returns.
func TestBlocksInWASI(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		r, input, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		output, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		m := wasiModule(t, c)
		var all []*Thread
		var ins []*Instance
		for _, f := range []struct {
			name string
			args []uint64
		}{{"read", []uint64{0}}, {"write", []uint64{1, 100}}, {"poll", []uint64{uint64(time.Hour)}}, {"sleep", []uint64{uint64(time.Hour)}}} {
			in := wasiInstance(t, m, wazero.NewModuleConfig().WithStdin(r).WithStdout(w))
			th := in.Spawn(background, f.name, f.args...)
			soon(t, f.name+" begins", func() bool { return th.Task() != nil })
			all, ins = append(all, th), append(ins, in)
		}
		for range 10 {
			result(t, wasiInstance(t, m, wazero.NewModuleConfig()).Spawn(background, "set", 5000))
		}
		ctx, cancel := context.WithTimeout(background, 10*time.Millisecond)
		defer cancel()
		if err := ins[0].Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown of a guest that waits in the host: %v", err)
		}
		for _, th := range all {
			th.Cancel()
		}
		for _, f := range []*os.File{input, w, output, r} {
			f.Close()
		}
		for i, th := range all {
			if _, err := th.Wait(background); err == nil && i == len(all)-1 {
				t.Error("the sleep has no error")
			}
		}
	})
}

// TestTrapAmongOthers: a trap ends its own call, and no other.
func TestTrapAmongOthers(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		c.Slice = 100 * time.Microsecond
		in := instance(t, compiled(t, c, nil))
		rounds := uint64(longtest.Count(5_000_000, 1_000_000))
		var all []*Thread
		for range 4 {
			all = append(all, in.Spawn(background, "count", rounds))
		}
		soon(t, "the others have begun", func() bool {
			return all[0].Account().Suspended+all[3].Account().Running+all[3].Account().Blocked > 0
		})
		for i := range longtest.Count(20, 8) {
			if _, err := in.Spawn(background, "trap").Wait(background); err == nil || !strings.Contains(err.Error(), "unreachable") {
				t.Errorf("the trap: %v", err)
			}
			if i > 0 || longtest.Off() && c.Mechanism == mechanisms[0] {
				// A recursion takes long: wazero's stack grows to 50 MB, and is then unwound. In the
				// short form TestCall has it for this mechanism.
				continue
			}
			if _, err := in.Call(background, "recurse", 0); err == nil || !strings.Contains(err.Error(), "stack overflow") {
				t.Errorf("the recursion: %v", err)
			}
		}
		for _, th := range all {
			if got := result(t, th); got != rounds {
				t.Errorf("another thread returned %d", got)
			}
		}
	})
}

// TestHostPanics: the panic of a host function ends the call, like in plain wazero, and neither the
// slot nor the turn is lost.
func TestHostPanics(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		boom := errors.New("boom")
		in := instance(t, compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
			if x == 1 {
				Block(ctx, func() error { panic(boom) })
			}
			panic(boom)
		}))
		for x := range uint64(2) {
			if _, err := in.Call(background, "call", x); !errors.Is(err, boom) {
				t.Errorf("Call: %v", err)
			}
			if _, err := in.Spawn(background, "call", x).Wait(background); !errors.Is(err, boom) {
				t.Errorf("Spawn: %v", err)
			}
		}
		if got, err := in.Call(background, "fib", 10); err != nil || got[0] != 55 {
			t.Errorf("afterwards: %d, %v", got, err)
		}
	})
}

// TestHostWaits: a host function that waits without saying so does not keep the only slot, and one
// that says so lets other threads of its instance run, too.
func TestHostWaits(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		release := make(chan struct{})
		m := compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
			switch x {
			case 1:
				<-release
			case 2:
				Block(ctx, func() error { <-release; return nil })
			case 3:
				close(release)
			}
			return x
		})
		for x := range uint64(2) {
			release = make(chan struct{})
			in := instance(t, m)
			th := in.Spawn(background, "call", x+1)
			soon(t, "the thread runs", func() bool { return th.Task() != nil && th.Account().Running+th.Account().Blocked > 0 })
			other := in
			if x == 0 {
				other = instance(t, m)
			}
			result(t, other.Spawn(background, "call", 3))
			result(t, th)
		}
	})
}

// TestLimits: the bounds of fuel at their ends.
func TestLimits(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1, QuietThrows: true})
	for _, budget := range []int64{0, 1, math.MaxInt64} {
		for _, slice := range []int64{0, 1, math.MaxInt64} {
			in := instance(t, compiled(t, Config{Threads: true, Mechanism: Fuel, Loop: rt.Loop(), Budget: budget, FuelSlice: slice}, nil))
			th := in.Spawn(background, "count", 2000)
			th.AddFuel(0)
			_, err := th.Wait(background)
			var e *FuelError
			if (budget == 1) != errors.As(err, &e) || budget != 1 && err != nil {
				t.Errorf("budget %d, slice %d: %v", budget, slice, err)
			}
		}
	}
	in := instance(t, compiled(t, Config{Threads: true, Mechanism: Fuel, Loop: rt.Loop(), Budget: 1000}, nil))
	in.Pause()
	th := in.Spawn(background, "count", 1_000_000)
	th.AddFuel(math.MaxInt64)
	th.AddFuel(math.MaxInt64)
	in.Resume()
	result(t, th)
	in.Pause()
	th = in.Spawn(background, "spin")
	th.AddFuel(math.MaxInt64)
	th.AddFuel(-math.MaxInt64)
	th.AddFuel(-1 << 62)
	in.Resume()
	var e *FuelError
	if _, err := th.Wait(background); !errors.As(err, &e) {
		t.Errorf("a thread from which all fuel was taken ended with %v", err)
	}
}

// TestSetSlice: a thread's slice has the same special values as Config.Slice.
func TestSetSlice(t *testing.T) {
	var th Thread
	for d, want := range map[time.Duration]time.Duration{0: defaultSlice, -1: math.MaxInt64, 1: leastSlice, time.Second: time.Second} {
		th.SetSlice(d)
		if got := th.account.slice.Load(); got != int64(want) {
			t.Errorf("SetSlice(%d): %d; want %d", d, got, want)
		}
		if th.account.begin(1 << 40); th.account.until <= 1<<40 {
			t.Errorf("SetSlice(%d): the slice ends at %d", d, th.account.until)
		}
	}
}

// TestMemoryBound: a guest that takes all memory that it may have is refused more, and so is a
// thread that needs a stack.
func TestMemoryBound(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1})
	r := wazero.NewRuntimeWithConfig(background, wazero.NewRuntimeConfig().WithMemoryLimitPages(64))
	t.Cleanup(func() { r.Close(background) })
	if _, err := r.NewHostModuleBuilder("env").NewFunctionBuilder().WithFunc(func(x uint32) uint32 { return x }).Export("host").Instantiate(background); err != nil {
		t.Fatal(err)
	}
	m, err := Compile(background, threads, Config{Threads: true, Runtime: r, Loop: rt.Loop(), Slice: 100 * time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	in := instance(t, m)
	if got, err := in.Call(background, "grow"); err != nil || uint32(got[0]) != 64 {
		t.Errorf("the memory grew to %d pages, %v", got, err)
	}
	a := in.Spawn(background, "onstack", 1)
	soon(t, "the first thread runs", func() bool { return a.Account().Running > 0 })
	if _, err := in.Call(background, "onstack", 2); err == nil || !strings.Contains(err.Error(), "for the stack of another thread") {
		t.Errorf("a thread without room for its stack: %v", err)
	}
	if got := result(t, a); got != 1 {
		t.Errorf("the first thread returned %d", got)
	}
}

// TestInstancesComeAndGo: instances leave neither memory nor goroutines behind.
func TestInstancesComeAndGo(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 2, QuietThrows: true})
	m := compiled(t, Config{Threads: true, Loop: rt.Loop()}, nil)
	round := func(n int) {
		for i := range n {
			in, err := m.Instantiate(background, nil)
			if err != nil {
				t.Fatal(err)
			}
			th := in.Spawn(background, []string{"spin", "fib"}[i%2], []uint64{5}[:i%2]...)
			if i%3 == 0 {
				th.Wait(waited(th))
			}
			if err := in.Shutdown(background); err != nil {
				t.Fatal(err)
			}
		}
	}
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var st runtime.MemStats
		runtime.ReadMemStats(&st)
		return int64(st.HeapAlloc)
	}
	round(50)
	soon(t, "goroutines end", func() bool { return runtime.NumGoroutine() < 30 })
	was, goroutines := heap(), runtime.NumGoroutine()
	round(longtest.Count(10_000, 200))
	soon(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines+2 })
	if got := heap() - was; got > 4<<20 {
		t.Errorf("the instances left %d bytes behind", got)
	}
}

// waited returns a context that ends soon after the thread began.
func waited(th *Thread) context.Context {
	ctx, cancel := context.WithTimeout(background, 100*time.Microsecond)
	context.AfterFunc(ctx, func() { cancel(); th.Cancel() })
	return ctx
}

// TestCallStartsNothing: a guest that is never preempted runs on its caller's goroutine, and no
// other goroutine exists for it.
func TestCallStartsNothing(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		during := 0
		in := instance(t, compiled(t, c, func(_ context.Context, _ api.Module, x uint32) uint32 {
			during = runtime.NumGoroutine()
			return x
		}))
		err := rt.Run(background, "caller", func(ctx context.Context) error {
			before := 0
			for range 100 { // goroutines of other tests end
				before = runtime.NumGoroutine()
				if _, err := in.Call(ctx, "call", 1); err != nil || during <= before {
					return err
				}
			}
			t.Errorf("%d goroutines during a call, %d before it", during, before)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestTwoRuntimes: tasks of two runtimes of Cocoon use one module, and one instance of it.
func TestTwoRuntimes(t *testing.T) {
	for _, mechanism := range mechanisms {
		m := compiled(t, Config{Threads: true, Mechanism: mechanism, Slice: 100 * time.Microsecond}, nil)
		shared := instance(t, m)
		var wait sync.WaitGroup
		for range 2 {
			rt := tasktest.Start(t, cocoon.Config{Slots: 1})
			for i := range longtest.Count(3, 2) {
				wait.Add(1)
				go func() {
					defer wait.Done()
					err := rt.Run(background, "caller", func(ctx context.Context) error {
						in := shared
						if i == 0 {
							var err error
							if in, err = m.Instantiate(ctx, nil); err != nil {
								return err
							}
							defer in.Shutdown(ctx)
						}
						got, err := in.Call(ctx, "onstack", uint64(i))
						if err == nil && got[0] != uint64(i) {
							t.Errorf("onstack(%d) returned %d", i, got)
						}
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}()
			}
		}
		wait.Wait()
	}
}

// TestDeterministicSlices: time ends no slice of a deterministic instance.
func TestDeterministicSlices(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1})
	in := instance(t, compiled(t, Config{Threads: true, Mechanism: Fuel, Loop: rt.Loop(), FuelSlice: 1 << 60, Deterministic: true, Slice: leastSlice}, nil))
	all := []*Thread{in.Spawn(background, "trace", 1, 2_000_000), in.Spawn(background, "trace", 2, 2_000_000)}
	for _, th := range all {
		th.SetSlice(leastSlice)
	}
	if _, err := in.RunFor(background, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	if got := ids(in); len(got) != 2 {
		t.Errorf("the threads ran in the order %q", got)
	}
}

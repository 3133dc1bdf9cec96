package guest

import (
	"context"
	_ "embed"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/guest/meter"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

//go:embed testdata/threads.wasm
var threads []byte

var (
	background = context.Background()
	mechanisms = []meter.Mechanism{Epoch, Fuel}
)

// hostFunc is the guest's import env.host.
type hostFunc func(ctx context.Context, mod api.Module, x uint32) uint32

// shared keeps what wazero has compiled: the short form of the tests compiles each guest once.
var shared = wazero.NewCompilationCache()

// engine returns a wazero runtime that is closed at the end of the test.
func engine(t testing.TB) wazero.Runtime {
	config := wazero.NewRuntimeConfig()
	if longtest.Off() {
		config = config.WithCompilationCache(shared)
	}
	r := wazero.NewRuntimeWithConfig(background, config)
	t.Cleanup(func() { r.Close(background) })
	return r
}

// compiled returns the test's guest as a module.
func compiled(t testing.TB, c Config, host hostFunc) *Module {
	t.Helper()
	c.Runtime = engine(t)
	if host == nil {
		host = func(_ context.Context, _ api.Module, x uint32) uint32 { return x + 1 }
	}
	if _, err := c.Runtime.NewHostModuleBuilder("env").NewFunctionBuilder().WithFunc(host).Export("host").Instantiate(background); err != nil {
		t.Fatal(err)
	}
	m, err := Compile(background, threads, c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func instance(t testing.TB, m *Module) *Instance {
	t.Helper()
	in, err := m.Instantiate(background, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(background, 10*time.Second)
		defer cancel()
		if err := in.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
	})
	return in
}

// each runs the test for both mechanisms, on a runtime with one slot.
func each(t *testing.T, test func(t *testing.T, rt *cocoon.Runtime, c Config)) {
	for _, m := range mechanisms {
		t.Run(m.String(), func(t *testing.T) {
			rt := tasktest.Start(t, cocoon.Config{Slots: 1, QuietThrows: true})
			test(t, rt, Config{Mechanism: m, Loop: rt.Loop(), Threads: true})
		})
	}
}

// soon waits until cond holds.
func soon(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 20 s", what)
		}
	}
}

func TestCall(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		in := instance(t, compiled(t, c, nil))
		for _, x := range []struct {
			function string
			args     []uint64
			want     uint64
		}{{"fib", []uint64{20}, 6765}, {"count", []uint64{1_000_000}, 1_000_000}, {"call", []uint64{41}, 42}, {"fib", []uint64{5}, 5}} {
			got, err := in.Call(background, x.function, x.args...)
			if err != nil || len(got) != 1 || got[0] != x.want {
				t.Errorf("Call(%s, %d) = %d, %v; want %d", x.function, x.args, got, err, x.want)
			}
			got, err = in.Spawn(background, x.function, x.args...).Wait(background)
			if err != nil || len(got) != 1 || got[0] != x.want {
				t.Errorf("Spawn(%s, %d): %d, %v; want %d", x.function, x.args, got, err, x.want)
			}
		}
		for _, x := range []struct {
			function string
			args     []uint64
			want     string
		}{
			{"nothing", nil, `guest exports no function "nothing"`},
			{"fib", nil, "guest.fib takes 1 parameters, and got 0"},
			{"trap", nil, "guest.trap: wasm error: unreachable"},
			{"recurse", []uint64{0}, "guest.recurse: stack overflow"},
		} {
			if x.function == "recurse" && longtest.Off() && c.Mechanism != mechanisms[0] {
				continue // it takes long; TestTrapAmongOthers has it for the other mechanism
			}
			if _, err := in.Call(background, x.function, x.args...); err == nil || !strings.HasPrefix(err.Error(), x.want) {
				t.Errorf("Call(%s, %d): %v; want %q", x.function, x.args, err, x.want)
			}
			if x.function == "recurse" && longtest.Off() {
				continue
			}
			if _, err := in.Spawn(background, x.function, x.args...).Wait(background); err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("Spawn(%s, %d): %v; want %q", x.function, x.args, err, x.want)
			}
		}
		if got, err := in.Call(background, "fib", 10); err != nil || got[0] != 55 {
			t.Errorf("after traps: %d, %v", got, err)
		}
	})
}

// TestSpinningGuest: a guest that never returns holds up neither the garbage collector nor other
// tasks, and a limit stops it.
func TestSpinningGuest(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		in := instance(t, compiled(t, c, nil))
		thread := in.Spawn(background, "spin")
		soon(t, "the guest runs", func() bool { return thread.Task() != nil })
		runtime.ReadMemStats(new(runtime.MemStats)) // stops the world; it would hang if the guest went on
		limit := cocoon.TimeLimit{Func: "guest.spin", Limit: 50 * time.Millisecond}
		if _, err := rt.RegisterTimeLimit(limit); err != nil {
			t.Fatal(err)
		}
		_, err := thread.Wait(background)
		var p *cocoon.PreemptedError
		if !errors.As(err, &p) {
			t.Fatalf("the thread ended with %v; want a throw", err)
		}
		if _, err := in.Call(background, "fib", 1); err == nil || !strings.Contains(err.Error(), "the instance is closed: spin was stopped half-way") {
			t.Errorf("Call after the throw: %v", err)
		}
	})
}

// TestReusable: a throw into a function that may be stopped leaves the instance open.
func TestReusable(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		c.Reusable = []string{"spin"}
		in := instance(t, compiled(t, c, nil))
		for range 20 {
			thread := in.Spawn(background, "spin")
			soon(t, "the guest runs", func() bool { return thread.Task() != nil })
			thread.Cancel()
			if _, err := thread.Wait(background); err == nil {
				t.Fatal("a cancelled thread has no error")
			}
			if got, err := in.Call(background, "fib", 10); err != nil || got[0] != 55 {
				t.Fatalf("after a throw: %d, %v", got, err)
			}
		}
	})
}

// TestContext: a call ends with its context.
func TestContext(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		in := instance(t, compiled(t, c, nil))
		ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
		defer cancel()
		if _, err := in.Call(ctx, "spin"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Call: %v; want the context's error", err)
		}
	})
}

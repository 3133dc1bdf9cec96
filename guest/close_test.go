package guest

import (
	"context"
	"errors"
	"math/rand/v2"
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
	"github.com/tetratelabs/wazero/sys"
)

// TestTwoCaches: two runtimes of wazero share a cache of compiled code, and closing one does not
// disturb the other.
func TestTwoCaches(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 2, QuietThrows: true})
	cache := wazero.NewCompilationCache()
	defer cache.Close(background)
	var all []*Module
	for range 2 {
		r := wazero.NewRuntimeWithConfig(background, wazero.NewRuntimeConfig().WithCompilationCache(cache))
		defer r.Close(background)
		m, err := Compile(background, wasiGuest, Config{Threads: true, Runtime: r, Loop: rt.Loop()})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	first, second := wasiInstance(t, all[0], wazero.NewModuleConfig()), wasiInstance(t, all[1], wazero.NewModuleConfig())
	th, other := first.Spawn(background, "await", 5000), second.Spawn(background, "await", 5000)
	soon(t, "both run", func() bool { return th.Account().Running > 0 && other.Account().Running > 0 })
	if err := all[0].Close(background); err != nil {
		t.Error(err)
	}
	// a throw, or ErrShutdown if the guest saw that first
	if _, err := th.Wait(background); err == nil {
		t.Error("the guest of the closed module ended without an error")
	}
	runtime.GC()
	result(t, second.Spawn(background, "set", 5000))
	result(t, other)
}

// TestHostCloses: if a host function closes the module, a call that should return a result returns
// an error, and not no results.
func TestHostCloses(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		in := instance(t, compiled(t, c, func(ctx context.Context, mod api.Module, x uint32) uint32 {
			mod.Close(ctx)
			return x
		}))
		var exit *sys.ExitError
		if got, err := in.Call(background, "call", 1); !errors.As(err, &exit) {
			t.Errorf("the call returned %v, %v; want a *sys.ExitError", got, err)
		}
		var closed *ClosedError
		if _, err := in.Call(background, "fib", 1); !errors.As(err, &closed) {
			t.Errorf("the next call: %v; want a *ClosedError", err)
		}
	})
}

// TestCloseAtAnyMoment: whatever is in progress, Shutdown of instances and Close of the module end
// it, and nothing hangs, crashes or is left behind.
func TestCloseAtAnyMoment(t *testing.T) {
	for seed := range uint64(longtest.Count(300, 12)) {
		rng := rand.New(rand.NewPCG(seed, 3))
		rt := tasktest.Start(t, cocoon.Config{Slots: 1 + rng.IntN(3), QuietThrows: true})
		c := Config{Threads: true, Mechanism: mechanisms[seed%2], Loop: rt.Loop(), Slice: 50 * time.Microsecond, Reusable: []string{"spin", "call", "fib"}}
		var in *Instance
		m := compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
			switch x % 4 {
			case 0:
				Block(ctx, func() error { <-ctx.Done(); return nil })
			case 1:
				in.Call(ctx, "fib", 10)
			case 2:
				if x > 100 {
					in.Shutdown(ctx)
				}
			case 3:
				if x > 200 {
					in.module.Close(ctx)
				}
			}
			return x
		})
		in = instance(t, m)
		var wait sync.WaitGroup
		for range 4 {
			r := rand.New(rand.NewPCG(seed, rng.Uint64()))
			wait.Add(1)
			go func() {
				defer wait.Done()
				for range 30 {
					disturb(r, m, in)
				}
			}()
		}
		time.Sleep(time.Duration(rng.IntN(3000)) * time.Microsecond)
		ctx, cancel := context.WithTimeout(background, 20*time.Second)
		if err := m.Close(ctx); err != nil {
			t.Fatalf("seed %d: Close: %v", seed, err)
		}
		wait.Wait()
		cancel()
		if _, err := in.Call(background, "fib", 1); !errors.Is(err, ErrShutdown) {
			t.Errorf("seed %d: a call after Close: %v", seed, err)
		}
		_, err := m.Instantiate(background, nil)
		if err == nil || !strings.Contains(err.Error(), "Instantiate after Close") {
			t.Errorf("seed %d: Instantiate after Close: %v", seed, err)
		}
		if closed := (*ClosedError)(nil); !errors.As(err, &closed) {
			t.Errorf("seed %d: Instantiate after Close: %v is no *ClosedError", seed, err)
		}
	}
}

// disturb does something to the module or the instance.
func disturb(r *rand.Rand, m *Module, in *Instance) {
	ctx, cancel := context.WithTimeout(background, time.Duration(r.IntN(400))*time.Microsecond)
	defer cancel()
	switch r.IntN(8) {
	case 0:
		in.Call(ctx, "spin")
	case 1:
		in.Spawn(ctx, "call", r.Uint64N(220)).Wait(ctx)
	case 2:
		in.Spawn(background, "spin").Cancel()
	case 3:
		in.RunFor(ctx, 50*time.Microsecond)
		in.Resume()
	case 4:
		in.Pause()
		in.Resume()
	case 5:
		if other, err := m.Instantiate(ctx, nil); err == nil {
			th := other.Spawn(background, "spin")
			other.Shutdown(ctx)
			<-th.Done()
		}
	case 6:
		in.Spawn(ctx, "trap")
	case 7:
		in.Spawn(background, "onstack", 1)
	}
}

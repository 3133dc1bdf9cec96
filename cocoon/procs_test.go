package cocoon

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/kernel"
)

// GOMAXPROCS includes the spare Ps while runtimes are hot, for no more slots than the application
// has Ps, and is restored afterwards.
func TestGOMAXPROCS(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	check := func(what string, want int) {
		t.Helper()
		if n := runtime.GOMAXPROCS(0); n != want {
			t.Errorf("%s: GOMAXPROCS is %d; want %d", what, n, want)
		}
	}
	hot := func(cfg Config) *Runtime {
		rt, err := New(cfg)
		must(t, err)
		heatUp(t, rt)
		return rt
	}
	cold, err := New(Config{Slots: 100})
	must(t, err)
	check("a cold one", 8)
	a := hot(Config{Slots: 5})
	check("few slots", 8)
	_, err = a.NewLoop(LoopConfig{Name: "more", Slots: 2})
	must(t, err)
	check("another loop", 7+SparePs)
	b := hot(Config{Slots: 1000})
	check("more slots than Ps", 8+SparePs)
	done := kernel.SpareProc()
	check("a goroutine of its own that is busy", 8+SparePs+1)
	done()
	check("it is done", 8+SparePs)
	kept := hot(Config{Slots: 2, KeepProcs: true})
	check("one that keeps it", 8+SparePs)
	byDefault, err := New(Config{})
	must(t, err)
	if n := byDefault.Loop().Stats().Slots; n != 8 {
		t.Errorf("the default is %d slots; want 8, without what others have added", n)
	}
	must(t, byDefault.Shutdown(background))
	must(t, a.Shutdown(background))
	check("the first is gone", 8+SparePs)
	must(t, b.Shutdown(background))
	check("the second is gone", 8)
	must(t, kept.Shutdown(background))
	must(t, cold.Shutdown(background))
	check("all are gone", 8)
	kernel.SpareProc()()
	check("a busy one while none is hot", 8)

	again := hot(Config{Slots: 8})
	runtime.GOMAXPROCS(3)
	must(t, again.Shutdown(background))
	check("the application has changed it meanwhile", 3)
}

// On one P, with KeepProcs, everything works, but later: the timer's thread gets the P when Go
// takes it from the task.
func TestOneP(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	rt := start(t, Config{Slots: 2, KeepProcs: true, StallAfter: 5 * time.Millisecond})
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Fatalf("GOMAXPROCS is %d", n)
	}
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "endless", Limit: 5 * time.Millisecond})
	must(t, err)
	must(t, rt.RegisterPreemptibleFunc("endless"))
	must(t, rt.RegisterSafeFunc("get"))
	_, err = rt.RegisterDefaultPreemption(OnEnqueue)
	must(t, err)
	var handles []*Handle
	for range 4 {
		handles = append(handles, rt.Go(background, "endless", spinForever), rt.Go(background, "get", idle))
	}
	for i, h := range handles {
		if err := h.Wait(background); i%2 == 0 {
			preemption(t, err)
		} else {
			must(t, err)
		}
	}
	loop := newLoopOf(t, rt, "other", 1)
	must(t, rt.Run(background, "outer", func(ctx context.Context) error {
		if err := loop.Run(ctx, "inner", func(ctx context.Context) error { TaskOf(ctx).Cancel(); return spinForever(ctx) }); !errors.Is(err, ErrCancelled) {
			t.Error(err)
		}
		return nil
	}))
}

// Invalid Configs are refused, with the field's name.
func TestBadConfigs(t *testing.T) {
	for _, cfg := range []Config{{Slots: -1}, {Slots: maxSlots + 1}, {MaxQueue: -1}, {MaxStarted: -1}, {MaxFailures: -1}} {
		if rt, err := New(cfg); err == nil {
			t.Errorf("%+v: started", cfg)
			rt.Shutdown(background)
		}
	}
	rt := start(t, Config{Slots: 1})
	for _, cfg := range []LoopConfig{{}, {Name: "l", Slots: -1}, {Name: "l", MaxQueue: -1}, {Name: "l", MaxStarted: -1}} {
		if _, err := rt.NewLoop(cfg); err == nil {
			t.Errorf("%+v: made", cfg)
		}
	}
	for _, f := range []any{nil, 7, "", (func())(nil), (func(context.Context))(nil), Func{Name: "x"}, Func{Do: func(context.Context) {}}} {
		if err := rt.RegisterSafeFunc(f); err == nil {
			t.Errorf("RegisterSafeFunc(%#v): registered", f)
		}
	}
	if err := rt.RegisterPreemptibleFunc(nil); err == nil {
		t.Error("RegisterPreemptibleFunc(nil): registered")
	}
	if _, err := rt.RegisterTimeLimit(TimeLimit{}); err == nil {
		t.Error("an empty time limit: registered")
	}
	if err := rt.Run(background, "nil", nil); !errors.Is(err, errNilFunc) {
		t.Error(err)
	}
}

// With Breath off, without policies and waiting tasks, no request is ever posted to a task.
func TestNoRequestWithoutReason(t *testing.T) {
	rt := start(t, Config{Slots: 1, Breath: -1, StallAfter: time.Millisecond})
	must(t, rt.RegisterPreemptibleFunc("spin"))
	h := rt.Go(background, "spin", func(ctx context.Context) error {
		for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
			SafePoint(ctx)
		}
		return nil
	})
	must(t, h.Wait(background))
	if n := h.Account().SafePoints; n != 0 {
		t.Errorf("it answered %d requests", n)
	}
}

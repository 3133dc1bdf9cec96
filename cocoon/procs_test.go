package cocoon

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
)

// On one P, with KeepProcs, everything works, later: the timer's thread gets the P when Go takes it from the task.
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

// Bad set-ups are refused, with the field's name.
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

// More names than the table holds: the later ones share a class, and all tasks run.
func TestMoreNamesThanTheTableHolds(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	rt.classCount.Store(maxClasses)
	h := rt.Go(background, "one too many", idle)
	must(t, h.Wait(background))
	if n := h.Task().Name(); n != "other" {
		t.Errorf("its name is %q", n)
	}
}

// With Breath off, and no policy and nobody waiting, a task is never asked for anything.
func TestNobodyAsksWithoutReason(t *testing.T) {
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

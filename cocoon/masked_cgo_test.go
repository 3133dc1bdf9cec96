//go:build cgo

package cocoon

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/fromc"
	"github.com/cocoon-go/cocoon/safepoint"
)

// pollings are the ways to pass a safe point.
var pollings = map[string]func(ctx context.Context){
	"SafePoint": SafePoint,
	"foreign":   func(context.Context) { SafePoint(background) },
	"poll":      func(context.Context) { safepoint.Poll() },
	"Block":     func(ctx context.Context) { _ = Block(ctx, func() error { return nil }) },
	"Yield":     Yield,
}

// A throw waits until the C functions on the task's stack have returned, and then comes at once.
func TestAThrowDoesNotUnwindC(t *testing.T) {
	for name, poll := range pollings {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1})
			inside := false
			err := rt.Run(background, "job", func(ctx context.Context) error {
				fromc.Call(func() {
					TaskOf(ctx).Cancel()
					for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
						poll(ctx)
					}
					inside = true
				})
				return spinForever(ctx)
			})
			preemption(t, err)
			if held := fromc.Held(); !inside || held != 0 {
				t.Fatalf("the callback came to its end: %v; C's locks that are held: %d", inside, held)
			}
		})
	}
}

// A task inside C is not suspended either.
func TestATaskIsNotSuspendedInsideC(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	rt.Loop().cfg.Exclusive = true // a short wait for one of the runtime's locks must not lend the slot
	must(t, rt.RegisterPreemptibleFunc("scan"))
	must(t, rt.RegisterSafeFunc("get"))
	_, err := rt.RegisterDefaultPreemption(OnEnqueue)
	must(t, err)
	must(t, rt.Run(background, "scan", func(ctx context.Context) error {
		var get *Handle
		fromc.Call(func() {
			get = rt.Go(background, "get", idle)
			eventually(t, "the request to switch", func() bool { return strandOf(ctx).requests.Load()&wantSwitch != 0 })
			for range 1000 {
				SafePoint(ctx)
				safepoint.Poll()
			}
			if closed(get.Done()) {
				t.Error("another task ran in the midst of C's function")
			}
		})
		for end := time.Now().Add(patience); !closed(get.Done()); SafePoint(ctx) {
			if time.Now().After(end) {
				return errors.New("the task was not suspended when C's function had returned")
			}
		}
		return nil
	}))
}

// A section inside the callback that catches the throw leaves C's frames alone.
func TestAThrowEndsInsideOfACallback(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	register(t, rt, Policy{Name: "limit", On: Every(time.Millisecond),
		Expr: `task.section_running > duration("5ms") or task.name == "inner" and task.running > duration("5ms") ? throw("x") : continue()`})
	for name, call := range map[string]func(ctx context.Context) error{
		"section": func(ctx context.Context) error {
			return inSection(ctx, "part", func() error { return spinForever(ctx) })
		},
		"task": func(ctx context.Context) error { return rt.Run(ctx, "inner", spinForever) },
	} {
		t.Run(name, func(t *testing.T) {
			must(t, rt.Run(background, "job", func(ctx context.Context) error {
				fromc.Call(func() { preemption(t, call(ctx)) })
				return nil
			}))
			if held := fromc.Held(); held != 0 {
				t.Errorf("%d of C's locks are held", held)
			}
		})
	}
}

// If a process has called C, but none of its tasks is in a callback, their stacks are not walked at
// each switch.
func TestStacksAreWalkedOnceACallOfC(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		fromc.Call(func() {})
		s := strandOf(ctx)
		s.requests.Store(wantSwitch) // as if posted; no code takes it
		defer s.requests.Store(0)
		if s.findMask().masked || s.remembers().cgoSeen == 0 {
			t.Error("masked, or its stack is not known to be free of C")
		}
		fromc.Call(func() {
			if !s.findMask().masked {
				t.Error("not masked in the next callback")
			}
		})
		return nil
	}))
}

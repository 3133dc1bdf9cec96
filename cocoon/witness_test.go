package cocoon

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/inside"
)

// heardOf collects what a witness is told. The witness reads the statistics, which takes every lock
// of the runtime, so it must be called under none.
type heardOf struct {
	mu     sync.Mutex
	events []inside.Event
	on     []uintptr // goroutines
}

func listenTo(t *testing.T, rt *Runtime) *heardOf {
	t.Helper()
	h := &heardOf{}
	stop, err := inside.Witness(rt, func(ctx context.Context, e inside.Event) {
		rt.Stats()
		h.mu.Lock()
		defer h.mu.Unlock()
		h.events, h.on = append(h.events, e), append(h.on, goroutine.ID())
	})
	must(t, err)
	t.Cleanup(stop)
	return h
}

// one returns the only event so far, and forgets it.
func (h *heardOf) one(t *testing.T, want inside.Happening, on uintptr) inside.Event {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.events) != 1 || h.events[0].Happening != want || h.events[0].Loop != "default" || on != 0 && h.on[0] != on {
		t.Fatalf("%+v on %v; want one of %d on %d", h.events, h.on, want, on)
	}
	e := h.events[0]
	h.events, h.on = nil, nil
	return e
}

func (h *heardOf) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events, h.on = nil, nil
}

// What happens to tasks is told on their own goroutines, under no lock, and once.
func TestWitness(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Millisecond})
	register(t, rt, Policy{Name: "no", On: OnEnqueue, Expr: `arriving.name == "unwanted" ? throw("not now") : continue()`})
	heard := listenTo(t, rt)
	self := goroutine.ID()

	must(t, rt.Run(background, "task", idle))
	rt.Run(background, "unwanted", idle)
	if e := heard.one(t, inside.Refused, self); preemption(t, e.Err).Policy != "no" {
		t.Errorf("%+v", e)
	}
	signal := throwOnSignal(t, rt, "thrown")
	rt.Run(background, "thrown", func(ctx context.Context) error { signal(); return spinForever(ctx) })
	if e := heard.one(t, inside.Thrown, self); preemption(t, e.Err).Where() == "" {
		t.Errorf("%+v", e)
	}
	err := rt.Run(background, "cancelled", func(ctx context.Context) error {
		TaskOf(ctx).Cancel() // and no safe point
		return context.Canceled
	})
	if e := heard.one(t, inside.Thrown, self); !errors.Is(err, ErrCancelled) || e.Err != err {
		t.Errorf("%+v; want %v", e, err)
	}

	// One task stalls, and another one waits for its slot. On a busy machine the first one may lack
	// a processor instead, which is no stall.
	for stalled := false; !stalled; {
		heard.forget()
		var back atomic.Bool
		h := begun(t, rt.Loop(), background, "stalls", func(context.Context) error { return stall(back.Load) })
		must(t, rt.Run(background, "waits", func(context.Context) error {
			if stalled = rt.Loop().Stats().Stalls > 0; stalled {
				eventually(t, "both events", func() bool { heard.mu.Lock(); defer heard.mu.Unlock(); return len(heard.events) == 2 })
			}
			return nil
		}))
		back.Store(true)
		must(t, h.Wait(background))
	}
	for i, e := range heard.events {
		if e.Happening == inside.Waited && heard.on[i] != self || e.Happening != inside.Waited && e.Happening != inside.Stalled || e.Ago <= 0 {
			t.Errorf("%+v", e)
		}
	}
}

// A task that was suspended tells it when it runs again.
func TestWitnessOfSuspension(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.LoadPolicies(strings.NewReader("version: 1\ntasks: {long: preemptible, short: safe}\npreemption: {on: enqueue}")))
	l, heard := oneSlot(t, rt), listenTo(t, rt)
	var served atomic.Bool
	h := begun(t, l, background, "long", func(ctx context.Context) error {
		for end := time.Now().Add(patience); !served.Load() && time.Now().Before(end); {
			SafePoint(ctx)
		}
		return nil
	})
	must(t, l.Run(background, "short", func(context.Context) error { served.Store(true); return nil }))
	must(t, h.Wait(background))
	heard.mu.Lock()
	defer heard.mu.Unlock()
	slices.SortFunc(heard.events, func(a, b inside.Event) int { return cmp.Compare(a.Happening, b.Happening) })
	if e := heard.events; len(e) != 2 || e[0].Happening != inside.Waited || e[1].Happening != inside.Suspended || e[1].Ago <= 0 || e[1].Ago > patience {
		t.Errorf("%+v", e)
	}
}

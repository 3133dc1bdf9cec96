package cocoon

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// The adaptive quantum sleeps while no task waits. It lets long tasks take turns, and short ones
// run in between.
func TestAdaptiveQuantum(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.RegisterPreemptibleFunc("long"))
	must(t, rt.RegisterSafeFunc("long"))
	must(t, rt.RegisterSafeFunc("short"))
	spec, err := policy.AdaptiveQuantum(200*time.Microsecond, 2*time.Millisecond)
	must(t, err)
	r := register(t, rt, spec)
	until := make(chan struct{})
	var turns [2]atomic.Int64
	long := func(i int) *Handle {
		return rt.Go(background, "long", func(ctx context.Context) error {
			for !closed(until) {
				turns[i].Add(1)
				SafePoint(ctx)
			}
			return nil
		})
	}
	first := long(0)
	eventually(t, "the first runs", func() bool { return turns[0].Load() > 0 })
	if st := r.Stats(); st.Interval != time.Second {
		t.Errorf("with nobody waiting it looks every %v", st.Interval)
	}
	second := long(1)
	eventually(t, "turns", func() bool { return first.Account().Preemptions > 2 && second.Account().Preemptions > 2 })
	for range 20 {
		must(t, rt.Run(background, "short", idle))
	}
	close(until)
	must(t, first.Wait(background))
	must(t, second.Wait(background))
}

// A policy that shortens its interval on an event does so at once, and on one loop. The timer's
// interval grows with it again.
func TestIntervalOfALoop(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	other, err := rt.NewLoop(LoopConfig{Name: "other", Slots: 1})
	must(t, err)
	r := register(t, rt, Policy{
		Name: "hurry", On: Trigger{Interval: time.Hour, Events: stubs.Enqueue}, // no tick comes before the event
		Expr: `queue.length > 0 ? interval(duration("100us")) : interval(duration("1h"))`,
	})
	intervals := func() (hurried, calm time.Duration) {
		rt.regMu.Lock()
		defer rt.regMu.Unlock()
		return time.Duration(r.now.on(rt.Loop()).interval.Load()), time.Duration(r.now.on(other).interval.Load())
	}
	release := taken(t, rt.Loop())
	waiting := rt.Go(background, "waiting", idle)
	eventually(t, "a short interval", func() bool { return r.Stats().Interval == 100*time.Microsecond })
	if hurried, calm := intervals(); hurried != 100*time.Microsecond || calm != time.Hour {
		t.Errorf("intervals %v where a task waits, and %v where none does", hurried, calm)
	}
	lead := func() time.Duration { return time.Duration(rt.Loop().leads.Load().lead(rt, new(class), Atomic)) }
	eventually(t, "a quick pace", func() bool { return lead() == 100*time.Microsecond })
	release()
	must(t, waiting.Wait(background))
	eventually(t, "a long interval", func() bool { return r.Stats().Interval == time.Hour })
	eventually(t, "a slow pace", func() bool { return lead() == time.Hour })
	r.Cancel()
	if i, k := r.Stats().Interval, rt.Loop().leads.Load(); i != 0 || k != nil {
		t.Errorf("cancelled: interval %v, leads %+v", i, k)
	}
}

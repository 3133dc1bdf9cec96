package cocoon

import (
	"context"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/notify"
)

// A policy with the shortest interval is evaluated about that often if the machine permits, whether
// the interval was registered or set by the policy itself.
func TestShortestInterval(t *testing.T) {
	for name, every := range map[string]time.Duration{"registered": lang.MinInterval, "shortened": time.Second} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1, StallAfter: -1})
			must(t, rt.RegisterState(map[string]any{"last": time.Duration(0), "least": time.Hour}))
			on := Every(every)
			on.Events = OnEnqueue.Events
			register(t, rt, Policy{Name: "often", On: on, Expr: `
				interval(duration("5us"));
				set("last", runtime.uptime);
				state.last > duration("0s") ? set("least", min(state.least, runtime.uptime - state.last)) : continue()`})
			must(t, rt.Run(background, "job", func(ctx context.Context) error {
				least := func() time.Duration { return rt.State("least").(time.Duration) }
				eventually(t, "two evaluations in a row", func() bool { return least() < 4*lang.MinInterval })
				return nil
			}))
		})
	}
}

// A jump of the clock, forwards as after sleep of the machine or backwards, costs a time policy no
// more than the moment: missed ticks are not repeated.
func TestClockLeaps(t *testing.T) {
	rt := start(t, Config{Slots: 2, StallAfter: time.Millisecond})
	r := register(t, rt, Policy{Name: "look", On: Every(time.Millisecond), Expr: `task.preemptions > 1000000 ? throw("x") : continue()`})
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		for _, leap := range []time.Duration{24 * time.Hour, -24 * time.Hour, time.Millisecond} {
			at := notify.Now() + int64(leap)
			next := rt.Loop().onTimer(at, cpuSample{})
			if wait := time.Duration(next - at); wait > time.Millisecond || wait <= 0 {
				t.Errorf("after a leap of %v the timer comes again in %v", leap, wait)
			}
			n := r.Stats().Evaluations
			eventually(t, "evaluations after a leap of "+leap.String(), func() bool { SafePoint(ctx); return r.Stats().Evaluations > n+2 })
		}
		if a := TaskOf(ctx).Account(); min(a.Queued, a.Running, a.Blocked, a.Suspended) < 0 {
			t.Errorf("%+v", a)
		}
		return rt.Run(background, "other", idle) // the other slot still exists
	}))
}

package cocoon

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
)

// The adaptive quantum sleeps while nobody waits, and lets long tasks take turns and short ones in between.
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

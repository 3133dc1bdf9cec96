package cocoon

import (
	"context"
	"testing"
	"time"
)

// Invariant 9, and its other side: a scan that was passed over for too long runs undisturbed for a
// while, but the pending request to switch is not forgotten: the second get does not wait for the
// end of the scan.
func TestSwitchAfterImmunity(t *testing.T) {
	rt := start(t, Config{Slots: 1, MaxBypass: 20 * time.Millisecond, StallAfter: time.Minute})
	must(t, rt.RegisterSafeFunc("get"))
	must(t, rt.RegisterPreemptibleFunc("scan"))
	if _, err := rt.RegisterDefaultPreemption(OnEnqueue); err != nil {
		t.Fatal(err)
	}
	l := oneSlot(t, rt)
	var gets int
	scanning := make(chan bool)
	scan := l.Go(background, "scan", func(ctx context.Context) error {
		close(scanning)
		for end := time.Now().Add(30 * time.Second); gets < 2 && time.Now().Before(end); {
			SafePoint(ctx) // the gets run on this slot, so their writes are visible after a switch
		}
		return nil
	})
	<-scanning
	for _, length := range []time.Duration{30 * time.Millisecond, 0} { // the first is longer than MaxBypass
		must(t, l.Run(background, "get", func(context.Context) error {
			for end := time.Now().Add(length); time.Now().Before(end); {
			}
			gets++
			return nil
		}))
	}
	must(t, scan.Wait(background))
	if gets != 2 {
		t.Fatal("the second get waited until the scan gave up")
	}
	if n := scan.Account().Preemptions; n != 2 {
		t.Errorf("%d preemptions; want 2", n)
	}
}

// Config.MaxBypass makes the scan immune: a scan passed over for longer than the bound is immune;
// with a longer bound, or none, it is not.
func TestMaxBypassIsThatOfTheConfig(t *testing.T) {
	for bypass, want := range map[time.Duration]bool{20 * time.Millisecond: true, time.Hour: false, -1: false} {
		rt := start(t, Config{Slots: 1, MaxBypass: bypass, StallAfter: time.Minute})
		must(t, rt.RegisterSafeFunc("get"))
		must(t, rt.RegisterPreemptibleFunc("scan"))
		_, err := rt.RegisterDefaultPreemption(OnEnqueue)
		must(t, err)
		scanning, got := make(chan struct{}), make(chan struct{})
		scan := rt.Go(background, "scan", func(ctx context.Context) error {
			close(scanning)
			spin(ctx, got)
			rt.Loop().lock()
			defer rt.Loop().unlock()
			if immune := strandOf(ctx).core.Immune() > 0; immune != want {
				t.Errorf("MaxBypass %v: immune %t", bypass, immune)
			}
			return nil
		})
		receive(t, "the scan", scanning)
		must(t, rt.Run(background, "get", func(context.Context) error {
			for end := time.Now().Add(30 * time.Millisecond); time.Now().Before(end); {
			}
			close(got)
			return nil
		}))
		must(t, scan.Wait(background))
	}
}

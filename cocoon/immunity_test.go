package cocoon

import (
	"context"
	"testing"
	"time"
)

// Invariant 9, and its other side: a scan that was passed over too long runs undisturbed for a while, but what asked to go
// first meanwhile is not forgotten: the second get does not wait for the end of the scan.
func TestSwitchAfterImmunity(t *testing.T) {
	rt := start(t, Config{Slots: 1, MaxBypass: 20 * time.Millisecond, StallAfter: time.Minute})
	must(t, rt.RegisterSafeFunc("get"))
	must(t, rt.RegisterPreemptibleFunc("scan"))
	if _, err := rt.RegisterDefaultPreemption(OnEnqueue); err != nil {
		t.Fatal(err)
	}
	var gets int
	scanning := make(chan bool)
	scan := rt.Go(background, "scan", func(ctx context.Context) error {
		close(scanning)
		for end := time.Now().Add(30 * time.Second); gets < 2 && time.Now().Before(end); {
			SafePoint(ctx) // the gets run on this one slot, so what they write is seen behind a switch
		}
		return nil
	})
	<-scanning
	for _, length := range []time.Duration{30 * time.Millisecond, 0} { // the first outlasts MaxBypass
		must(t, rt.Run(background, "get", func(context.Context) error {
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

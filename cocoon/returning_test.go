package cocoon

import (
	"context"
	"testing"
	"time"
)

// A safe task that comes back from a block preempts like an arriving one.
func TestSafeTaskComesBackFromABlock(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
	must(t, rt.RegisterSafeFunc("get"))
	must(t, rt.RegisterPreemptibleFunc("scan"))
	_, err := rt.RegisterDefaultPreemption(OnEnqueue)
	must(t, err)
	blocked, scanning, back := make(chan bool), make(chan bool), make(chan bool)
	get := rt.Go(background, "get", func(ctx context.Context) error {
		err := Block(ctx, func() error {
			close(blocked)
			<-scanning // the scan has the slot now
			return nil
		})
		close(back)
		return err
	})
	<-blocked
	must(t, rt.Run(background, "scan", func(ctx context.Context) error {
		close(scanning)
		for end := time.Now().Add(10 * time.Second); ; {
			select {
			case <-back:
				return nil
			default:
				if SafePoint(ctx); time.Now().After(end) {
					t.Error("the get did not get its slot back while the scan ran")
					return nil
				}
			}
		}
	}))
	must(t, get.Wait(background))
}

package cocoon

import (
	"context"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
)

// A task that waits in its slot does not run, though no other wants the slot: a limit on its running
// time does not throw, and its account says that it waited.
func TestWaitingIsNotRunning(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	goroutine.Learn()
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "s", Limit: 150 * time.Millisecond})
	must(t, err)
	h := rt.Go(background, "waits", func(ctx context.Context) error {
		return inSection(ctx, "s", func() error {
			for range 20 {
				time.Sleep(20 * time.Millisecond)
				SafePoint(ctx)
			}
			return nil
		})
	})
	must(t, h.Wait(background))
	if a := h.Account(); a.Running > 150*time.Millisecond || a.Blocked < 250*time.Millisecond {
		t.Errorf("%+v of a task that slept for 400 ms", a)
	}
}

// What runs is thrown out of at its limit as before, while the process has other work: samples take
// nothing off.
func TestRunningIsRunning(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	goroutine.Learn()
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "s", Limit: 100 * time.Millisecond})
	must(t, err)
	h := rt.Go(background, "runs", func(ctx context.Context) error {
		return inSection(ctx, "s", func() error { return spinForever(ctx) })
	})
	pe := preemption(t, h.Wait(background))
	a := h.Account()
	if a.Running < 100*time.Millisecond {
		t.Errorf("thrown after %v: %v", a.Running, pe)
	}
	if most := a.Running + patience/4; a.Starved > most {
		t.Errorf("%+v", a)
	}
}

// A task that a ticker wakes for a moment is not charged for the time between, though the sampler's
// timer and the ticker may meet.
func TestTickerIsNotRunning(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	goroutine.Learn()
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "s", Limit: 100 * time.Millisecond})
	must(t, err)
	h := rt.Go(background, "stream", func(ctx context.Context) error {
		return inSection(ctx, "s", func() error {
			ticker := time.NewTicker(10 * time.Millisecond)
			defer ticker.Stop()
			for range 60 {
				<-ticker.C
				SafePoint(ctx)
			}
			return nil
		})
	})
	if err := h.Wait(background); err != nil {
		t.Errorf("%v; %+v", err, h.Account())
	}
}

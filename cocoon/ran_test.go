package cocoon

import (
	"context"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
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

// By how much the timer came late, because the process had no processor, no task has run; by a delay
// as Go itself makes it, nothing is taken off.
func TestLateTimerIsNotRunning(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	goroutine.Learn()
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "s", Limit: time.Hour})
	must(t, err)
	stop := make(chan struct{})
	h := rt.Go(background, "runs", func(ctx context.Context) error {
		return inSection(ctx, "s", func() error { spin(ctx, stop); return nil })
	})
	eventually(t, "the task to run for a while", func() bool { return h.Account().Running > 100*time.Millisecond })
	l := rt.Loop()
	for late, off := range map[int64]int64{tooLate / 2: 0, 4 * tooLate: 4 * tooLate} {
		l.lockAll()
		now, s := notify.Now(), l.live
		before := s.core.Ran(now)
		s.sampled, s.ranAt, s.cpuAt = now-8*tooLate, before, 1 // as if it were not the first sample
		l.sampleRan(l.leads.Load(), now, late, cpuSample{used: now, expected: true})
		if got := before - s.core.Ran(now); got != off {
			t.Errorf("%v taken off where the timer came %v late, want %v", time.Duration(got), time.Duration(late), time.Duration(off))
		}
		l.unlock()
	}
	close(stop)
	must(t, h.Wait(background))
}

package cocoon

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/safepoint"
)

// TestSafePointAnswersWithTheWordDown: a task that was deaf for so long that the timer has lowered
// the word answers a throw at its next SafePoint, and not when the word is up again.
func TestSafePointAnswersWithTheWordDown(t *testing.T) {
	for range longtest.Count(20, 8) {
		rt := start(t, Config{StallAfter: -1})
		var passed bool
		busy := make(chan struct{})
		h := rt.Go(background, "deaf", func(ctx context.Context) error {
			for strandOf(ctx).breath.left.get() < 50 { // until its next reading of the clock is far
				SafePoint(ctx)
			}
			close(busy)
			err := stall(func() bool { return closed(ctx.Done()) && !safepoint.Raised() })
			SafePoint(ctx)
			passed = true
			return err
		})
		receive(t, "deaf", busy)
		h.Cancel()
		if err := h.Wait(background); err == nil || passed {
			t.Fatalf("it passed a SafePoint: %v, error %v", passed, err)
		}
		must(t, rt.Shutdown(background))
	}
}

// A count that divert has set says nothing about how fast safe points are passed.
func TestBreathAfterADivert(t *testing.T) {
	rt := start(t, Config{StallAfter: -1})
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		s := strandOf(ctx)
		s.breathe()
		s.breath.stride = 1000
		s.breath.divert()
		SafePoint(ctx)
		if b := &s.breath; b.stride != 0 || b.left.get() < 0 {
			t.Errorf("after a divert: %d safe points until the next reading of the clock, %d left; want 0", b.stride, b.left.get())
		}
		return nil
	}))
}

// TestTaskWithoutPIsServed: while a task has a request and no P, the tasks that have one give it up
// at their safe points. Without that the request waits for as many time slices of 10 ms as there
// are tasks.
func TestTaskWithoutPIsServed(t *testing.T) {
	withProcs(t, 1)
	others := longtest.Count(20, 6)
	rt := start(t, Config{Slots: others + 1, KeepProcs: true, StallAfter: -1, Breath: -1})
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	spin := func(ctx context.Context) error {
		for ctx.Err() == nil {
			SafePoint(ctx)
		}
		return nil
	}
	for range others {
		rt.Go(ctx, "other", spin)
	}
	// served stops a task, and reports how late, and how late at most. The test's goroutine waits
	// for a P afterwards.
	served := func() (took, most time.Duration) {
		var ended int64
		h := begun(t, rt.Loop(), background, "stopped", func(ctx context.Context) error {
			defer func() { ended = notify.Now() }()
			return spinForever(ctx)
		})
		eventually(t, "the runtime to be hot", rt.warmth.hot.Load)
		begin := notify.Now()
		runtime.Gosched() // a goroutine that is no task waits for all others' time slices
		slices := notify.Now() - begin
		begin = notify.Now()
		h.Cancel()
		_ = h.Wait(background)
		return time.Duration(ended - begin), max(time.Duration(slices), time.Duration(others)*10*time.Millisecond) / 2
	}
	var took, most time.Duration
	for range 4 { // other processes may keep the core for as long
		if took, most = served(); took <= most {
			return
		}
	}
	t.Errorf("stopped after %v; want at most %v, half of the others' time slices", took, most)
}

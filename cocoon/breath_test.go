package cocoon

import (
	"context"
	"runtime"
	"testing"
	"time"
)

// untilAnswered runs a preemptible task until it has answered n requests, and reports whether it did within ten seconds.
func untilAnswered(t *testing.T, rt *Runtime, n int64) bool {
	t.Helper()
	if err := rt.RegisterPreemptibleFunc("spin"); err != nil {
		t.Fatal(err)
	}
	answered := false
	err := rt.Run(context.Background(), "spin", func(ctx context.Context) error {
		for end := time.Now().Add(10 * time.Second); !answered && time.Now().Before(end); {
			SafePoint(ctx)
			answered = TaskOf(ctx).Account().SafePoints >= n
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return answered
}

// Where the kernel gives no short slices, a running preemptible task is asked to yield its core.
func TestBreathByYielding(t *testing.T) {
	rt := start(t, Config{Slots: 1, Breath: -1})
	rt.yields = int64(minYield)
	if !untilAnswered(t, rt, 5) {
		t.Error("a preemptible task ran for 10 s and was not asked to yield its core five times")
	}
}

// The kernel is asked for short slices while a runtime lives that wants them, for threads that are there and for threads
// to come, and the wish is taken back after the last one.
func TestBreathBySlices(t *testing.T) {
	short, err := New(Config{Slots: 1, Breath: 200 * time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	if !short.slices {
		short.Shutdown(context.Background())
		t.Skip("this kernel gives threads no time slices of their own")
	}
	if short.yields != 0 {
		t.Error("tasks are asked to yield although the kernel gives short slices")
	}
	other, err := New(Config{Slots: 1, Breath: 400 * time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	wantSlice(t, 200*time.Microsecond)
	short.Shutdown(context.Background())
	wantSlice(t, 200*time.Microsecond) // not lengthened while others live
	other.Shutdown(context.Background())
	if got := ownSlice(t); got == 200*time.Microsecond {
		t.Errorf("after the last runtime the slice is still %v", got)
	}
}

func wantSlice(t *testing.T, want time.Duration) {
	t.Helper()
	if got := ownSlice(t); got != want {
		t.Errorf("the slice of a thread that was there is %v, want %v", got, want)
	}
	got := make(chan time.Duration)
	for range 4 { // locked together, they need threads of their own
		go func() {
			runtime.LockOSThread() // and not unlocked: the thread ends with the goroutine
			got <- ownSlice(t)
		}()
	}
	for range 4 {
		if d := <-got; d != want {
			t.Errorf("the slice of another thread is %v, want %v", d, want)
		}
	}
}

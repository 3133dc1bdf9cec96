package cocoon

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestRunReturnsTheError(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	want := errors.New("x")
	if err := rt.Run(background, "a", func(context.Context) error { return want }); err != want {
		t.Fatal(err)
	}
}

// A time limit on a task, by its name.
func TestTimeLimit(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "spin", Limit: 5 * time.Millisecond})
	must(t, err)
	pe := preemption(t, rt.Run(background, "spin", spinForever))
	if pe.Running < 5*time.Millisecond || pe.Policy != "time-limit/spin" {
		t.Errorf("%+v", pe)
	}
}

// Invariant 4: a task that is switched out a hundred times cannot detect it, except by the clock.
func TestSwitch(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.RegisterSafeFunc("get"))
	must(t, rt.RegisterPreemptibleFunc("scan"))
	_, err := rt.RegisterDefaultPreemption(OnEnqueue)
	must(t, err)
	running, done := make(chan struct{}), make(chan struct{})
	sum, want := 0, 0
	h := rt.Go(background, "scan", func(ctx context.Context) error {
		close(running)
		for i := 0; !closed(done); i++ {
			sum, want = sum+i, i*(i+1)/2
			SafePoint(ctx)
			if sum != want {
				t.Error("its data changed at a safe point")
			}
		}
		return ctx.Err()
	})
	receive(t, "the scan", running)
	for range 100 {
		must(t, rt.Run(background, "get", idle))
	}
	close(done)
	must(t, h.Wait(background))
	if a := h.Account(); a.Preemptions == 0 || a.Suspended == 0 {
		t.Errorf("%+v", a)
	}
}

// At most as many tasks run at once as there are slots.
func TestSlotsAreTheBound(t *testing.T) {
	rt := start(t, Config{Slots: 3, StallAfter: -1})
	gauge := make(chan struct{}, 3)
	var handles []*Handle
	for range 100 {
		handles = append(handles, rt.Go(background, "job", func(ctx context.Context) error {
			for range 10 {
				select {
				case gauge <- struct{}{}:
				default:
					return errors.New("more tasks run than there are slots")
				}
				<-gauge
				Yield(ctx)
			}
			return nil
		}))
	}
	for _, h := range handles {
		must(t, h.Wait(background))
	}
}

func BenchmarkRun(b *testing.B) {
	rt := start(b, Config{Slots: 1})
	b.ReportAllocs()
	for b.Loop() {
		rt.Run(background, "a", idle)
	}
}

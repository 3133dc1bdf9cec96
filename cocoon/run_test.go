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
	if err := rt.Run(context.Background(), "a", func(context.Context) error { return want }); err != want {
		t.Fatal(err)
	}
}

func TestTimeLimit(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	if _, err := rt.RegisterTimeLimit(TimeLimit{Func: "spin", Limit: 5 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	err := rt.Run(context.Background(), "spin", func(ctx context.Context) error {
		for {
			SafePoint(ctx)
		}
	})
	var pe *PreemptedError
	if !errors.As(err, &pe) {
		t.Fatal(err)
	}
	t.Log(time.Since(begin), err)
}

func TestSwitch(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	rt.RegisterSafeFunc("get")
	rt.RegisterPreemptibleFunc("scan")
	if _, err := rt.RegisterDefaultPreemption(OnEnqueue); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	running := make(chan struct{})
	h := rt.Go(context.Background(), "scan", func(ctx context.Context) error {
		close(running)
		for {
			select {
			case <-done:
				return nil
			default:
				SafePoint(ctx)
			}
		}
	})
	<-running
	for range 100 {
		begin := time.Now()
		if err := rt.Run(context.Background(), "get", func(ctx context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
		_ = begin
	}
	close(done)
	if err := h.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", h.Account())
}

func BenchmarkRun(b *testing.B) {
	rt := start(b, Config{Slots: 1})
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		rt.Run(ctx, "a", func(context.Context) error { return nil })
	}
}

package cocoon

import (
	"context"
	"errors"
	"testing"
)

// Thrown returns the throw that will end a task from the decision to the task's end, even if code
// recovers it. It does not return a throw into a section.
func TestThrown(t *testing.T) {
	rt := start(t, Config{})
	if p := Thrown(context.Background()); p != nil {
		t.Errorf("without a task: %v", p)
	}
	var kept context.Context
	var seen *PreemptedError
	err := rt.Run(context.Background(), "thrown", func(ctx context.Context) error {
		kept = ctx
		if p := Thrown(ctx); p != nil {
			t.Errorf("before: %v", p)
		}
		TaskOf(ctx).Cancel()
		if seen = Thrown(ctx); seen == nil || seen.Where() != "" {
			t.Errorf("decided: %v", seen)
		}
		other := make(chan *PreemptedError)
		go func() { other <- Thrown(ctx) }()
		if p := <-other; p != nil {
			t.Errorf("on another goroutine: %v", p)
		}
		func() {
			defer func() { recover() }()
			SafePoint(ctx)
		}()
		if p := Thrown(ctx); p != seen || p.Where() == "" {
			t.Errorf("recovered: %v", p)
		}
		SafePoint(ctx)
		return nil
	})
	var p *PreemptedError
	if !errors.As(err, &p) || p != seen {
		t.Errorf("the task ended with %v; want %v", err, seen)
	}
	if p := Thrown(kept); p != nil {
		t.Errorf("afterwards: %v", p)
	}
}

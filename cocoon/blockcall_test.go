package cocoon

import (
	"context"
	"errors"
	"testing"
)

// A throw that is due when BlockCall is called is its error; one that comes meanwhile waits for a safe point.
func TestBlockCall(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	own := errors.New("own")
	for _, c := range []struct {
		name   string
		before bool // the throw
		called bool
		want   error
	}{
		{"due", true, false, ErrCancelled},
		{"meanwhile", false, true, own},
	} {
		t.Run(c.name, func(t *testing.T) {
			called, after := false, false
			err := rt.Go(background, "caller", func(ctx context.Context) error {
				if c.before {
					TaskOf(ctx).Cancel()
				}
				err := BlockCall(ctx, func() error {
					called = true
					if n := rt.Loop().Stats().Busy; n != 0 {
						t.Errorf("%d slots are taken during the call", n)
					}
					TaskOf(ctx).Cancel()
					return own
				})
				if !errors.Is(err, c.want) {
					t.Errorf("returned %v; want %v", err, c.want)
				}
				after = true
				SafePoint(ctx)
				t.Error("it was not thrown into at the safe point")
				return nil
			}).Wait(background)
			if called != c.called || !after || !errors.Is(err, ErrCancelled) {
				t.Errorf("called %t, came back %t, ended with %v", called, after, err)
			}
		})
	}
}

// Where there is no slot to give, the function just runs; its panics pass with the slot back.
func TestBlockCallElsewhere(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	own := errors.New("own")
	call := func(ctx context.Context) error { return BlockCall(ctx, func() error { return own }) }
	if err := call(background); err != own {
		t.Errorf("without a task: %v", err)
	}
	must(t, rt.Run(background, "outer", func(ctx context.Context) error {
		if err := Block(ctx, func() error { return call(ctx) }); err != own {
			t.Errorf("inside Block: %v", err)
		}
		func() {
			defer func() { recover() }()
			BlockCall(ctx, func() error { panic("x") })
		}()
		if n := rt.Loop().Stats().Busy; n != 1 {
			t.Errorf("%d slots are taken after a panic; want 1", n)
		}
		return nil
	}))
}

// A policy on block sees it, and may throw before the call.
func TestBlockCallIsABlock(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	register(t, rt, Policy{Name: "no-blocks", On: OnBlock, Expr: `throw("no blocks here")`})
	err := rt.Run(background, "caller", func(ctx context.Context) error {
		return BlockCall(ctx, func() error { t.Error("called"); return nil })
	})
	var p *PreemptedError
	if !errors.As(err, &p) || p.Policy != "no-blocks" {
		t.Errorf("got %v", err)
	}
}

package cocoon

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A throw pending when BlockCall is called has ended the context when its function runs, like a
// cancelled context in plain Go. A throw that arrives during the call waits for a safe point.
func TestBlockCall(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	own := errors.New("own")
	signal := throwOnSignal(t, rt, "caller")
	for _, c := range []struct {
		name   string
		before bool // the throw comes before the call
	}{{"due", true}, {"meanwhile", false}} {
		t.Run(c.name, func(t *testing.T) {
			called, after := false, false
			err := rt.Go(background, "caller", func(ctx context.Context) error {
				if c.before {
					signal()
				}
				err := BlockCall(ctx, func() error {
					if called = true; c.before != (ctx.Err() != nil) {
						t.Errorf("the context: %v", ctx.Err())
					}
					if n := rt.Loop().Stats().Busy; n != 0 {
						t.Errorf("%d slots are taken during the call", n)
					}
					TaskOf(ctx).Cancel()
					return own
				})
				if err != own {
					t.Errorf("returned %v; want %v", err, own)
				}
				after = true
				SafePoint(ctx)
				t.Error("it was not thrown into at the safe point")
				return nil
			}).Wait(background)
			preemption(t, err)
			if !called || !after {
				t.Errorf("called %t, came back %t", called, after)
			}
		})
	}
}

// A task that neither returns from its calls nor looks at its context is told after a while:
// BlockCall returns the throw without making the call. Clean-up calls are made even then.
func TestBlockCallTellsInTheEnd(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	own := errors.New("own")
	for name, in := range map[string]func(context.Context, func() error) error{
		"task":    func(_ context.Context, fn func() error) error { return fn() },
		"section": func(ctx context.Context, fn func() error) error { return inSection(ctx, "s", fn) },
	} {
		signal := throwOnSignal(t, rt, name)
		begin := time.Now()
		_ = rt.Run(background, name, func(ctx context.Context) error {
			return in(ctx, func() error {
				signal()
				var err error
				for err == nil {
					err = BlockCall(ctx, func() error { time.Sleep(time.Millisecond); return nil })
				}
				preemption(t, err)
				if err := BlockCall(context.WithoutCancel(ctx), func() error { return own }); err != own {
					t.Errorf("%s: the clean-up: %v", name, err)
				}
				return err
			})
		})
		if d := time.Since(begin); d < unwinds {
			t.Errorf("%s: told after %v", name, d)
		}
	}
}

// Without a slot to give up, BlockCall only calls the function. If the function panics, the panic
// passes and the task has its slot back.
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

// A policy on block sees the call, and may throw before it.
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

package cocoonctx

import (
	"context"

	"github.com/cocoon-go/cocoon/cocoon"
)

var global = context.Background()

func read() error { return nil }

func bad(ctx context.Context, rt *cocoon.Runtime, l *cocoon.Loop) {
	rt.Run(ctx, "a", func(tctx context.Context) error {
		cocoon.SafePoint(ctx)                                    // want `SafePoint is given ctx, a context from outside the task; the task's own is tctx`
		cocoon.Yield(ctx)                                        // want `Yield is given ctx`
		rt.Run(ctx, "b", nil)                                    // want `Runtime.Run is given ctx`
		l.Go(ctx, "b", nil)                                      // want `Loop.Go is given ctx`
		cocoon.SafePoint(global)                                 // want `SafePoint is given global`
		_, err := cocoon.Section(ctx, "s", func() (int, error) { // want `Section is given ctx`
			cocoon.SafePoint(ctx) // want `SafePoint is given ctx`
			return 0, nil
		})
		rows(func() { cocoon.SafePoint((ctx)) }) // want `SafePoint is given ctx`
		if err != nil {
			return err
		}
		cocoon.Wait(ctx, func() {})    // want `Wait is given ctx`
		return cocoon.Block(ctx, read) // want `Block is given ctx`
	})
	l.Go(ctx, "a", func(tctx context.Context) error {
		cocoon.SafePoint(ctx) // want `the task's own is tctx`
		return nil
	})
	cocoon.Go(ctx, "a", (func(tctx context.Context) error {
		rt.Go(tctx, "child", func(cctx context.Context) error {
			cocoon.SafePoint(tctx) // want `SafePoint is given tctx, a context from outside the task; the task's own is cctx`
			return nil
		})
		rt.Run(tctx, "nested", func(nctx context.Context) error {
			cocoon.SafePoint(ctx) // want `SafePoint is given ctx, a context from outside the task; the task's own is nctx`
			return nil
		})
		go rt.Run(tctx, "beside", func(bctx context.Context) error {
			cocoon.SafePoint(tctx) // want `the task's own is bctx`
			return nil
		})
		return nil
	}))
}

func rows(f func()) { f() }

func good(ctx context.Context, rt *cocoon.Runtime) {
	cocoon.SafePoint(ctx)
	rt.Run(ctx, "a", func(ctx context.Context) error {
		cocoon.SafePoint(ctx)
		derived, cancel := context.WithCancel(ctx)
		defer cancel()
		return cocoon.Block(derived, read)
	})
	// Without a name, and the blank one: there is no other context to use.
	rt.Run(ctx, "a", func(context.Context) error { cocoon.SafePoint(ctx); return nil })
	rt.Run(ctx, "a", func(_ context.Context) error { cocoon.SafePoint(ctx); return nil })

	server, other := context.Background(), context.Background()
	var kept context.Context
	rt.Run(ctx, "a", func(tctx context.Context) error {
		rt.Go(server, "of the server", nil) // not what this task was started with: a task of its own
		rt.Go(global, "of the process", nil)
		kept = tctx
		cocoon.SafePoint(kept)
		assign(&other)
		cocoon.SafePoint(other)
		go func() {
			rt.Run(ctx, "on another goroutine", nil)
			cocoon.SafePoint(ctx)
		}()
		// The outer context leads to the inner task, which runs on the same goroutine.
		return rt.Run(tctx, "nested", func(nctx context.Context) error {
			cocoon.SafePoint(tctx)
			return rt.Run(tctx, "deeper", func(dctx context.Context) error { cocoon.Yield(nctx); cocoon.Yield(tctx); return nil })
		})
	})
	rt.Go(global, "a", func(tctx context.Context) error {
		rt.Go(global, "of its own", nil)
		return nil
	})
	rt.Run(ctx, "a", named)
	rt.Run(ctx, "a", nil)
}

func named(tctx context.Context) error { cocoon.SafePoint(global); return nil }

func assign(ctx *context.Context) {}

// shadowed is reported, but the fix would not mean the task's context.
func shadowed(ctx context.Context, rt *cocoon.Runtime) {
	rt.Run(ctx, "a", func(tctx context.Context) error {
		for _, tctx := range []string{"a"} {
			cocoon.SafePoint(ctx) // want `SafePoint is given ctx`
			_ = tctx
		}
		return nil
	})
}

func generic[T any](ctx context.Context, rt *cocoon.Runtime, do func(T) error, v T) error {
	return rt.Run(ctx, "a", func(tctx context.Context) error {
		_, err := cocoon.Section[T](ctx, "s", func() (T, error) { return v, do(v) }) // want `Section is given ctx`
		return err
	})
}

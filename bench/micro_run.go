package main

import (
	"context"

	"github.com/cocoon-go/cocoon/cocoon"
)

func nothing(context.Context) error { return nil }

// microRun measures Run of an empty function, from one goroutine, on a loop with one slot that no
// other task wants; its peer starts a goroutine and waits for its end.
func microRun(ctx context.Context, r *report, e effort) error {
	got, err := medians(ctx, e, runSide, goSide)
	if err != nil {
		return err
	}
	const peer = "go and channel"
	run, other := got[0], got[1]
	r.add(result{Name: "run", Metric: "ns", Value: run[ns], Unit: "ns", Peer: peer, PeerValue: other[ns]}, upTo(250))
	r.add(result{Name: "run", Metric: "allocs", Value: run[allocs], Unit: "allocs", Peer: peer, PeerValue: other[allocs]}, upTo(1))
	r.add(result{Name: "run", Metric: "bytes", Value: run[bytes_], Unit: "B", Peer: peer, PeerValue: other[bytes_]}, upTo(32))
	return nil
}

func runSide(ctx context.Context, e effort) (figures, error) {
	return configuredRun(cocoon.Config{})(ctx, e)
}

// configuredRun is the side of a Run with a configuration and one slot.
func configuredRun(cfg cocoon.Config) side {
	return preparedRun(cfg, func(*cocoon.Runtime) error { return nil })
}

// preparedRun is the side of a Run on a runtime with one slot, after prepare.
func preparedRun(cfg cocoon.Config, prepare func(*cocoon.Runtime) error) side {
	cfg.Slots = 1
	return func(ctx context.Context, e effort) (figures, error) {
		return withRuntime(cfg, func(rt *cocoon.Runtime) (f figures, err error) {
			if err := prepare(rt); err != nil {
				return nil, err
			}
			f = perOperation(e.span, func(n int) {
				for range n {
					if e := rt.Run(ctx, "empty", nothing); e != nil {
						err = e
					}
				}
			})
			return f, err
		})
	}
}

func goSide(_ context.Context, e effort) (figures, error) {
	done := make(chan struct{})
	return perOperation(e.span, func(n int) {
		for range n {
			go func() { done <- struct{}{} }()
			<-done
		}
	}), nil
}

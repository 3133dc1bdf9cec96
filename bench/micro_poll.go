package main

import (
	"context"
	"runtime"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/safepoint"
)

// microPoll measures what a safe point adds to an iteration of a counting loop, while there are no
// requests: the poll inserted into code (safepoint.Poll), and SafePoint in a task, which also keeps
// the breath. The loops are separate functions, so that the surrounding code does not change how
// they are compiled.
func microPoll(ctx context.Context, r *report, e effort) error {
	loop := func(body func(ctx context.Context, n int) int) side {
		return func(ctx context.Context, e effort) (figures, error) {
			return perOperation(e.span, func(n int) { runtime.KeepAlive(body(ctx, n)) }), nil
		}
	}
	inTask := func(ctx context.Context, e effort) (f figures, err error) {
		return withRuntime(cocoon.Config{Slots: 1}, func(rt *cocoon.Runtime) (figures, error) {
			err := rt.Run(ctx, "loop", func(ctx context.Context) (err error) {
				f, err = loop(safePointLoop)(ctx, e)
				return err
			})
			return f, err
		})
	}
	got, err := medians(ctx, e, loop(bareLoop), loop(pollLoop), inTask)
	if err != nil {
		return err
	}
	bare := got[0][ns]
	const peer = "bare loop"
	pollClaims := [2]float64{1, 1.5}
	for i, prefix := range []string{"", "safepoint_"} {
		with := got[1+i][ns]
		r.add(result{Name: "poll", Metric: prefix + "ns", Value: with, Unit: "ns", Peer: peer, PeerValue: bare}, claim{})
		r.add(result{Name: "poll", Metric: prefix + "above_ns", Value: with - bare, Unit: "ns"}, upTo(pollClaims[i]))
	}
	return nil
}

//go:noinline
func bareLoop(_ context.Context, n int) (sum int) {
	for i := range n {
		sum += i
	}
	return sum
}

//go:noinline
func pollLoop(_ context.Context, n int) (sum int) {
	for i := range n {
		sum += i
		safepoint.Poll()
	}
	return sum
}

//go:noinline
func safePointLoop(ctx context.Context, n int) (sum int) {
	for i := range n {
		sum += i
		cocoon.SafePoint(ctx)
	}
	return sum
}

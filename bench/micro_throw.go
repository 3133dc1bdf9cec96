package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// microThrow measures how long after its time limit the verdict on a task is reached (the task's
// error contains the time), and how long after it the task has ended: from the limit, counted from
// the call of Run, to Run's return with the error. Polling tasks take the other slots.
func microThrow(ctx context.Context, r *report, e effort) error {
	e.span *= 3
	got, err := medians(ctx, e, throwSide)
	if err != nil {
		return err
	}
	r.add(result{Name: "throw", Metric: "p50", Value: got[0][0], Unit: "µs"}, claim{})
	r.add(result{Name: "throw", Metric: "p99", Value: got[0][1], Unit: "µs"}, upTo(1000))
	r.add(result{Name: "throw", Metric: "verdict_p50", Value: got[0][2], Unit: "µs"}, claim{})
	r.add(result{Name: "throw", Metric: "verdict_p99", Value: got[0][3], Unit: "µs"}, upTo(200))
	return nil
}

func throwSide(ctx context.Context, e effort) (figures, error) {
	const limit = 2 * time.Millisecond
	return withRuntime(cocoon.Config{}, func(rt *cocoon.Runtime) (figures, error) {
		if err := rt.RegisterPreemptibleFunc("endless"); err != nil {
			return nil, err
		}
		if _, err := rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "endless", Limit: limit}); err != nil {
			return nil, err
		}
		stop, err := spin(ctx, rt, rt.Stats().Loops[0].Slots-1, "busy")
		if err != nil {
			return nil, err
		}
		defer stop()
		var late, verdicts []float64
		for begin := time.Now(); time.Since(begin) < e.span || len(late) < 100; {
			at := time.Now()
			err := rt.Run(ctx, "endless", func(ctx context.Context) error {
				for {
					cocoon.SafePoint(ctx)
				}
			})
			late = append(late, float64(time.Since(at)-limit)/1e3)
			if preempted := (*cocoon.PreemptedError)(nil); !errors.As(err, &preempted) {
				return nil, fmt.Errorf("a task over its time limit returned %v; want a PreemptedError", err)
			} else {
				verdicts = append(verdicts, float64(preempted.Running-limit)/1e3)
			}
		}
		gone, err := quantiles(late)
		if err != nil {
			return nil, err
		}
		fell, err := quantiles(verdicts)
		return append(gone, fell...), err
	})
}

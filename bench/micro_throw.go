package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/loadtest"
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
	gone, fell := got[0][:2+loadtest.CurvePoints], got[0][2+loadtest.CurvePoints:]
	r.add(result{Name: "throw", Metric: "p50", Value: gone[0], Unit: "µs"}, claim{})
	r.add(result{Name: "throw", Metric: "p99", Value: gone[1], Unit: "µs"}, upTo(1000))
	r.add(result{Name: "throw", Metric: "verdict_p50", Value: fell[0], Unit: "µs"}, claim{})
	r.add(result{Name: "throw", Metric: "verdict_p99", Value: fell[1], Unit: "µs"}, upTo(200))
	r.addCurve(result{Name: "throw", Metric: "late", Unit: "µs", Curve: gone[2:]})
	r.addCurve(result{Name: "throw", Metric: "verdict_late", Unit: "µs", Curve: fell[2:]})
	return nil
}

// lateness returns the median and the 99th percentile of durations, and their curve, in µs.
func lateness(late []time.Duration) (figures, error) {
	var values []float64
	for _, d := range late {
		values = append(values, float64(d)/1e3)
	}
	f, err := quantiles(values)
	return append(f, loadtest.CurveOf(late).Microseconds()...), err
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
		var late, verdicts []time.Duration
		for begin := time.Now(); time.Since(begin) < e.span || len(late) < 100; {
			at := time.Now()
			err := rt.Run(ctx, "endless", func(ctx context.Context) error {
				for {
					cocoon.SafePoint(ctx)
				}
			})
			late = append(late, time.Since(at)-limit)
			if preempted := (*cocoon.PreemptedError)(nil); !errors.As(err, &preempted) {
				return nil, fmt.Errorf("a task over its time limit returned %v; want a PreemptedError", err)
			} else {
				verdicts = append(verdicts, preempted.Running-limit)
			}
		}
		gone, err := lateness(late)
		if err != nil {
			return nil, err
		}
		fell, err := lateness(verdicts)
		return append(gone, fell...), err
	})
}

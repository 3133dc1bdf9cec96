package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// microShare measures how much of a core a long task keeps next to a process of the same control
// group that spins on the same core, in comparison with a long goroutine in the task's place. A
// thread that yields forfeits the rest of its time slice on Linux 6.18; with slices of three
// breaths the task kept half of what plain Go keeps (docs/design.md, The breath). Where processes
// cannot be pinned to a core there is nothing to measure.
func microShare(ctx context.Context, r *report, e effort) error {
	place, _, err := loadtest.Place("auto")
	if err != nil || len(place.Server) == 0 {
		return err
	}
	got, err := medians(ctx, e, shareSide(true, place.Server), shareSide(false, place.Server))
	if err != nil {
		return err
	}
	r.add(result{Name: "share", Metric: "of_core", Value: got[0][0], Unit: "", Peer: "go", PeerValue: got[1][0]}, claim{atLeast: 0.85})
	return nil
}

// shareSide returns the part of the core that a process kept from its rival.
func shareSide(task bool, cores []int) side {
	return func(ctx context.Context, e effort) (f figures, err error) {
		var children []*loadtest.Child
		defer func() {
			for _, c := range children {
				err = errors.Join(err, c.Stop())
			}
		}()
		for _, isTask := range []bool{task, false} {
			c, err := loadtest.Start(ctx, "share", shareConfig{isTask, e.span}, cores, nil, os.Stderr)
			if err != nil {
				return nil, err
			}
			children = append(children, c)
		}
		var used [2]time.Duration
		for i, c := range children {
			if err := c.Receive(&used[i]); err != nil {
				return nil, err
			}
		}
		return figures{float64(used[0]) / float64(used[0]+used[1])}, nil
	}
}

// shareConfig is the configuration of a process that is busy for a while.
type shareConfig struct {
	Task bool // busy in a task, and else in a goroutine
	Span time.Duration
}

// beBusy is such a process. It prints how much processor time it used.
func beBusy(c shareConfig) error {
	spin := func(ctx context.Context) error {
		for begin := time.Now(); time.Since(begin) < c.Span; {
			cocoon.SafePoint(ctx)
		}
		return json.NewEncoder(os.Stdout).Encode(loadtest.CurrentUsage().CPU)
	}
	if !c.Task {
		return spin(context.Background())
	}
	_, err := withRuntime(cocoon.Config{Slots: 1}, func(rt *cocoon.Runtime) (figures, error) {
		return nil, rt.Run(context.Background(), "busy", spin)
	})
	return err
}

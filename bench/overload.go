package main

import (
	"context"
	"fmt"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// overloadFigures holds the figures that the example prints for a mode.
type overloadFigures struct {
	Mode        string  `json:"mode"`
	Goodput     float64 `json:"goodput_per_s"`
	CriticalP99 float64 `json:"critical_p99_us"`
	FirstAction float64 `json:"first_action_us"`
	loadtest.Cost
}

// overload runs the example with its defaults, to measure which of the limiters responds most often
// in time, with what latency for the critical class, and which acts first.
func overload(ctx context.Context, r *report) error {
	w, err := openWorkshop(r)
	if err != nil {
		return err
	}
	defer w.close()
	program, err := w.buildExample(ctx, "../examples/overload", ".") // a separate module
	if err != nil {
		return err
	}
	all, err := example[overloadFigures](ctx, r, program)
	if err != nil {
		return err
	}
	return reportOverload(r, all)
}

// reportOverload claims that Cocoon leads each column.
func reportOverload(r *report, all []overloadFigures) error {
	of := map[string]overloadFigures{}
	for _, f := range all {
		of[f.Mode] = f
	}
	cocoon, plain := of["cocoon"], of["plain"]
	if cocoon.Mode == "" || plain.Mode == "" || len(of) < 5 {
		return fmt.Errorf("the example printed no results of some modes: %+v", all)
	}
	for _, f := range all {
		if f.Mode == cocoon.Mode {
			continue
		}
		r.add(result{Name: "cocoon", Metric: "goodput", Value: cocoon.Goodput, Unit: "/s", Peer: f.Mode, PeerValue: f.Goodput}, claim{atLeast: 1})
		r.add(result{Name: "cocoon", Metric: "critical_p99", Value: cocoon.CriticalP99, Unit: "µs", Peer: f.Mode, PeerValue: f.CriticalP99}, claim{atMost: 1})
		r.add(result{Name: "cocoon", Metric: "first_action", Value: cocoon.FirstAction, Unit: "µs", Peer: f.Mode, PeerValue: f.FirstAction}, claim{atMost: 1})
		r.add(result{Name: "cocoon", Metric: "server_cpu", Value: cocoon.CPUus, Unit: "µs", Peer: f.Mode, PeerValue: f.CPUus}, claim{})
		r.add(result{Name: "cocoon", Metric: "server_switches", Value: cocoon.Switches, Unit: "switches", Peer: f.Mode, PeerValue: f.Switches}, claim{})
	}
	r.add(result{Name: "cocoon", Metric: "first_action", Value: cocoon.FirstAction, Unit: "µs"}, upTo(2000))
	return nil
}

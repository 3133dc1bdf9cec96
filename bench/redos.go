package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// redosFigures holds the figures that the example prints for a mode.
type redosFigures struct {
	Mode        string  `json:"mode"`
	Attacks     float64 `json:"attacks"`
	Stopped     float64 `json:"stopped"`
	LatenessP99 float64 `json:"lateness_p99_us"`
	PingP99     float64 `json:"ping_p99_us"`
	WrongBenign float64 `json:"wrong_benign"`
	loadtest.Cost
}

// redos builds the example by cocoon build and runs it with its defaults, to measure whether a
// server survives evil regular expressions.
func redos(ctx context.Context, r *report) error {
	w, err := openWorkshop(r)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.buildCocoon(ctx); err != nil {
		return err
	}
	program := filepath.Join(w.folder, "redos")
	if _, err := output(ctx, "../examples", w.cocoon, "build", "-o", program, "./redos"); err != nil {
		return err
	}
	all, err := example[redosFigures](ctx, r, program)
	if err != nil {
		return err
	}
	of := map[string]redosFigures{}
	for _, f := range all {
		of[f.Mode] = f
	}
	idle, plain, cocoon := of["idle"], of["plain"], of["cocoon"]
	if idle.Mode == "" || plain.Mode == "" || cocoon.Attacks == 0 {
		return fmt.Errorf("the example printed no results of idle, plain or cocoon: %+v", all)
	}
	r.add(result{Name: "cocoon", Metric: "stopped", Value: cocoon.Stopped, Unit: "attacks", Peer: "sent", PeerValue: cocoon.Attacks}, claim{atLeast: 1})
	r.add(result{Name: "cocoon", Metric: "lateness_p99", Value: cocoon.LatenessP99, Unit: "µs"}, upTo(5000))
	r.add(result{Name: "cocoon", Metric: "ping_p99", Value: cocoon.PingP99, Unit: "µs", Peer: "idle", PeerValue: idle.PingP99}, claim{atMost: 3})
	r.add(result{Name: "plain", Metric: "ping_p99", Value: plain.PingP99, Unit: "µs", Peer: "cocoon", PeerValue: cocoon.PingP99}, claim{})
	r.add(result{Name: "cocoon", Metric: "wrong_benign", Value: cocoon.WrongBenign, Unit: "verdicts"}, upTo(0))
	// Attacks keep the plain server's core busy for good, so a request's cost is compared with the
	// idle server's.
	r.add(result{Name: "cocoon", Metric: "server_cpu", Value: cocoon.CPUus, Unit: "µs", Peer: "idle", PeerValue: idle.CPUus}, claim{})
	r.add(result{Name: "cocoon", Metric: "server_switches", Value: cocoon.Switches, Unit: "switches", Peer: "idle", PeerValue: idle.Switches}, claim{})
	return nil
}

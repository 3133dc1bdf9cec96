package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// holRuns is how often the experiment is repeated. The results are medians: a run of six seconds
// has so few scans that a compaction of the machine's memory, or a neighbour, affects its 99th
// percentile.
const holRuns = 3

// holFigures holds the figures that the example prints for a mode.
type holFigures struct {
	Mode   string  `json:"mode"`
	GetP99 float64 `json:"get_p99_us"`
	Scans  float64 `json:"scans"`
	loadtest.Cost
	GetCurve [loadtest.CurvePoints]float64 `json:"get_curve_us"`
}

// holModes are the modes of the example, in order. The first four have plots.
var holModes = []string{"idle", "plain", "gomaxprocs", "cocoon", "keepprocs"}

// hol runs the example with its defaults, to measure whether gets overtake scans as if there were
// none, at no cost to the scans.
func hol(ctx context.Context, r *report) error {
	w, err := openWorkshop(r)
	if err != nil {
		return err
	}
	defer w.close()
	program, err := w.buildExample(ctx, "../examples", "./hol")
	if err != nil {
		return err
	}
	runs := map[string][]holFigures{}
	for i := range holRuns {
		r.progress("run %d of %d", i+1, holRuns)
		all, err := example[holFigures](ctx, r, program, "-modes", strings.Join(holModes, ","))
		if err != nil {
			return err
		}
		for _, f := range all {
			runs[f.Mode] = append(runs[f.Mode], f)
		}
	}
	for _, mode := range holModes {
		if len(runs[mode]) != holRuns {
			return fmt.Errorf("the example printed %d results of mode %s in %d runs", len(runs[mode]), mode, holRuns)
		}
	}
	reportHOL(r, runs)
	return nil
}

// reportHOL reports the figures of the runs of each mode. All servers of a run do the same work:
// they respond to the same requests.
func reportHOL(r *report, runs map[string][]holFigures) {
	of := func(mode string, figure func(holFigures) float64) float64 {
		var values []float64
		for _, f := range runs[mode] {
			values = append(values, figure(f))
		}
		return median(values)
	}
	add := func(name, metric, unit, peer string, figure func(holFigures) float64, c claim) {
		r.add(result{Name: name, Metric: metric, Value: of(name, figure), Unit: unit, Peer: peer, PeerValue: of(peer, figure)}, c)
	}
	getP99 := func(f holFigures) float64 { return f.GetP99 }
	add("cocoon", "get_p99", "µs", "idle", getP99, claim{atMost: 2})
	add("plain", "get_p99", "µs", "cocoon", getP99, claim{atLeast: 10})
	add("cocoon", "scans", "scans", "plain", func(f holFigures) float64 { return f.Scans }, claim{atLeast: 0.95})
	add("keepprocs", "scans", "scans", "plain", func(f holFigures) float64 { return f.Scans }, claim{atLeast: 0.95})
	add("keepprocs", "get_p99", "µs", "plain", getP99, claim{atMost: 1})
	add("cocoon", "server_cpu", "µs", "plain", func(f holFigures) float64 { return f.CPUus }, claim{atMost: 1.08})
	add("cocoon", "server_switches", "switches", "plain", func(f holFigures) float64 { return f.Switches }, claim{})
	for _, mode := range holModes[:4] {
		var curve []float64
		for i := range loadtest.CurvePoints {
			curve = append(curve, of(mode, func(f holFigures) float64 { return f.GetCurve[i] }))
		}
		r.addCurve(result{Name: mode, Metric: "get", Unit: "µs", Curve: curve})
	}
}

// median returns the middle value, or the mean of the two middle values if their number is even.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

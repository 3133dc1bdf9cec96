package main

import (
	"context"
	"fmt"
	"slices"
)

// holRuns is how often the experiment is repeated. What is reported are medians: one run of six seconds has few enough
// scans for a compaction of the machine's memory, or a neighbour, to show in its 99th percentile.
const holRuns = 3

// holFigures is what the example prints for a mode.
type holFigures struct {
	Mode   string  `json:"mode"`
	GetP99 float64 `json:"get_p99_us"`
	Scans  float64 `json:"scans"`
}

// hol runs the example with its defaults: does a get pass scans as if there were none, at no cost to the scans?
func hol(ctx context.Context, r *report) error {
	w, err := openWorkshop(r)
	if err != nil {
		return err
	}
	defer w.close()
	program, err := w.buildExample(ctx, "..", "./examples/hol")
	if err != nil {
		return err
	}
	p99s, scans := map[string][]float64{}, map[string][]float64{}
	for i := range holRuns {
		r.progress("run %d of %d", i+1, holRuns)
		all, err := example[holFigures](ctx, r, program)
		if err != nil {
			return err
		}
		for _, f := range all {
			p99s[f.Mode] = append(p99s[f.Mode], f.GetP99)
			scans[f.Mode] = append(scans[f.Mode], f.Scans)
		}
	}
	for _, mode := range []string{"idle", "plain", "cocoon"} {
		if len(p99s[mode]) != holRuns {
			return fmt.Errorf("the example printed %d results of mode %s in %d runs", len(p99s[mode]), mode, holRuns)
		}
	}
	reportHOL(r, p99s, scans)
	return nil
}

// reportHOL takes the figures of the runs of each mode.
func reportHOL(r *report, p99s, scans map[string][]float64) {
	idle, plain, cocoon := median(p99s["idle"]), median(p99s["plain"]), median(p99s["cocoon"])
	r.add(result{Name: "cocoon", Metric: "get_p99", Value: cocoon, Unit: "µs", Peer: "idle", PeerValue: idle}, claim{atMost: 2})
	r.add(result{Name: "plain", Metric: "get_p99", Value: plain, Unit: "µs", Peer: "cocoon", PeerValue: cocoon}, claim{atLeast: 10})
	r.add(result{Name: "cocoon", Metric: "scans", Value: median(scans["cocoon"]), Unit: "scans",
		Peer: "plain", PeerValue: median(scans["plain"])}, claim{atLeast: 0.95})
}

// median returns the middle of the values, of an even number the mean of the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// figures is the JSON object of a mode.
type figures struct {
	Mode      string `json:"mode"`
	GetP50us  int64  `json:"get_p50_us"`
	GetP99us  int64  `json:"get_p99_us"`
	GetP999us int64  `json:"get_p999_us"`
	Gets      int    `json:"gets"`
	Scans     int    `json:"scans"`
	ScanP50us int64  `json:"scan_p50_us"`
	ScanP99us int64  `json:"scan_p99_us"`
	// GetCurve has a point for each loadtest.CurveShare.
	GetCurve []float64 `json:"get_curve_us"`
	loadtest.Cost
}

// display shows the progress and the results.
type display struct {
	console *loadtest.Console
	results *loadtest.Results
}

func newDisplay(stdout, stderr io.Writer, json bool) *display {
	return &display{loadtest.NewConsole(stderr), loadtest.NewResults(stdout, json,
		"mode", "get p50", "p99", "p99.9", "gets", "scans", "scan p50", "p99", "server")}
}

func (d *display) progress(m mode, l load, p progress) {
	phase := "measuring "
	if p.Elapsed < l.WarmUp {
		phase = "warming up"
	}
	total := l.WarmUp + l.Duration
	d.console.Progress(m.Name+": "+m.About, fmt.Sprintf("%-10s %s %4.1f of %.1f s, %5d gets and %4d scans complete", m.Name, phase,
		min(p.Elapsed, total).Seconds(), total.Seconds(), p.Gets, p.Scans))
}

// result shows the outcome of a mode.
func (d *display) result(m mode, o outcome) {
	d.console.Late(m.Name, o.Late)
	d.console.Clear()
	d.results.Add(figures{
		Mode:     m.Name,
		GetP50us: o.Gets.P50.Microseconds(), GetP99us: o.Gets.P99.Microseconds(), GetP999us: o.Gets.P99_9.Microseconds(),
		Gets: o.Gets.Count, Scans: o.ScansIn,
		ScanP50us: o.Scans.P50.Microseconds(), ScanP99us: o.Scans.P99.Microseconds(),
		GetCurve: o.GetCurve.Microseconds(),
		Cost:     o.Used.Each(o.Requests),
	}, m.Name, loadtest.Ms(o.Gets.P50), loadtest.Ms(o.Gets.P99), loadtest.Ms(o.Gets.P99_9), strconv.Itoa(o.Gets.Count),
		strconv.Itoa(o.ScansIn), loadtest.Ms(o.Scans.P50), loadtest.Ms(o.Scans.P99), fmt.Sprintf("%.0f %%", 100*o.Cores))
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/cocoon-go/cocoon/examples/internal/loadtest"
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
}

// display shows progress as it comes, and the results as JSON lines as they come or as one table at the end.
type display struct {
	console  *loadtest.Console
	stdout   io.Writer
	json     bool
	modes    []mode
	outcomes []outcome
	err      error // of the first write that went wrong
}

func newDisplay(stdout, stderr io.Writer, json bool) *display {
	return &display{console: loadtest.NewConsole(stderr), stdout: stdout, json: json}
}

func (d *display) progress(m mode, l load, p progress) {
	phase := "measuring "
	if p.Elapsed < l.WarmUp {
		phase = "warming up"
	}
	total := l.WarmUp + l.Duration
	d.console.Progress(m.name+": "+m.about, fmt.Sprintf("%-10s %s %4.1f of %.1f s, %5d gets and %4d scans answered", m.name, phase,
		min(p.Elapsed, total).Seconds(), total.Seconds(), p.Gets, p.Scans))
}

// result takes the outcome of a mode.
func (d *display) result(m mode, o outcome) {
	d.console.Late(m.name, o.Late)
	d.console.Clear()
	d.modes, d.outcomes = append(d.modes, m), append(d.outcomes, o)
	if !d.json {
		return
	}
	err := json.NewEncoder(d.stdout).Encode(figures{
		Mode:     m.name,
		GetP50us: o.Gets.P50.Microseconds(), GetP99us: o.Gets.P99.Microseconds(), GetP999us: o.Gets.P99_9.Microseconds(),
		Gets: o.Gets.Count, Scans: o.ScansIn,
		ScanP50us: o.Scans.P50.Microseconds(), ScanP99us: o.Scans.P99.Microseconds(),
	})
	if d.err == nil {
		d.err = err
	}
}

// finish prints the table.
func (d *display) finish() error {
	d.console.Clear()
	if d.json || len(d.modes) == 0 {
		return d.err
	}
	w := tabwriter.NewWriter(d.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "mode\tget p50\tp99\tp99.9\tgets\tscans\tscan p50\tp99\tserver\t")
	for i, o := range d.outcomes {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%.0f %%\t\n", d.modes[i].name,
			loadtest.Ms(o.Gets.P50), loadtest.Ms(o.Gets.P99), loadtest.Ms(o.Gets.P99_9), o.Gets.Count,
			o.ScansIn, loadtest.Ms(o.Scans.P50), loadtest.Ms(o.Scans.P99), 100*o.Cores)
	}
	return w.Flush()
}

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
	Mode          string `json:"mode"`
	Attacks       int    `json:"attacks"`
	Stopped       int    `json:"stopped"`
	Answered      int    `json:"answered"`
	LatenessP50us int64  `json:"lateness_p50_us"`
	LatenessP99us int64  `json:"lateness_p99_us"`
	LatenessMaxus int64  `json:"lateness_max_us"`
	PingP50us     int64  `json:"ping_p50_us"`
	PingP99us     int64  `json:"ping_p99_us"`
	WrongBenign   int    `json:"wrong_benign"`
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
	d.console.Progress(m.name+": "+m.about, fmt.Sprintf("%-8s %4.1f of %.1f s, %6d pings and %3d attacks have ended",
		m.name, min(p.Elapsed, l.end()).Seconds(), l.end().Seconds(), p.Pings, p.Attacks))
}

// result takes the outcome of a mode.
func (d *display) result(m mode, o outcome) {
	d.console.Late(m.name, o.Late)
	if o.Escaped != "" {
		d.console.Status("%s: %d attacks were not stopped; the first: %s", m.name, o.Attacks-o.Stopped, o.Escaped)
	}
	if o.Benign > 0 {
		d.console.Status("%s: %d benign verdicts were wrong or did not come; the first: %s", m.name, o.Benign, o.Wrong)
	}
	d.console.Clear()
	d.modes, d.outcomes = append(d.modes, m), append(d.outcomes, o)
	if !d.json {
		return
	}
	err := json.NewEncoder(d.stdout).Encode(figures{
		Mode: m.name, Attacks: o.Attacks, Stopped: o.Stopped, Answered: o.Answered,
		LatenessP50us: o.Lateness.P50.Microseconds(), LatenessP99us: o.Lateness.P99.Microseconds(),
		LatenessMaxus: o.Lateness.Max.Microseconds(),
		PingP50us:     o.Pings.P50.Microseconds(), PingP99us: o.Pings.P99.Microseconds(),
		WrongBenign: o.Benign,
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
	fmt.Fprintln(w, "mode\tattacks\tanswered\tstopped\tlate p50\tp99\tmax\tping p50\tp99\twrong benign\t")
	for i, o := range d.outcomes {
		late, pings := o.Lateness, o.Pings
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%d\t\n", d.modes[i].name, o.Attacks, o.Answered, o.Stopped,
			loadtest.Ms(late.P50), loadtest.Ms(late.P99), loadtest.Ms(late.Max),
			loadtest.Ms(pings.P50), loadtest.Ms(pings.P99), o.Benign)
	}
	return w.Flush()
}

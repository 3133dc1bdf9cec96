package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"
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
	stdout, stderr io.Writer
	json           bool
	live           bool // stderr is a terminal: the progress line is written over
	line           string
	modes          []mode
	outcomes       []outcome
	err            error // of the first write that went wrong
}

func newDisplay(stdout, stderr io.Writer, json bool) *display {
	d := &display{stdout: stdout, stderr: stderr, json: json}
	if f, ok := stderr.(*os.File); ok {
		info, err := f.Stat()
		d.live = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return d
}

// status says what the program does now.
func (d *display) status(format string, args ...any) {
	d.clear()
	fmt.Fprintf(d.stderr, format+"\n", args...)
}

// progress shows how far a mode has come: on a terminal all the time, else when it begins.
func (d *display) progress(m mode, l load, p progress) {
	if !d.live {
		if d.line != m.name {
			d.line = m.name
			fmt.Fprintf(d.stderr, "%s: %s\n", m.name, m.about)
		}
		return
	}
	d.clear()
	phase := "measuring "
	if p.Elapsed < l.WarmUp {
		phase = "warming up"
	}
	total := l.WarmUp + l.Duration
	d.line = fmt.Sprintf("%-10s %s %4.1f of %.1f s, %5d gets and %4d scans answered", m.name, phase,
		min(p.Elapsed, total).Seconds(), total.Seconds(), p.Gets, p.Scans)
	fmt.Fprint(d.stderr, d.line)
}

// clear takes away the progress line.
func (d *display) clear() {
	if d.live && d.line != "" {
		fmt.Fprintf(d.stderr, "\r%*s\r", len(d.line), "")
		d.line = ""
	}
}

// result takes the outcome of a mode.
func (d *display) result(m mode, o outcome) {
	if o.Late > lateBound {
		d.status("%s: the generator did not keep its schedule: one request in a hundred was sent more than %v late, "+
			"which is part of its latency; run on an idle machine or lower the rates", m.name, o.Late.Round(time.Microsecond))
	}
	d.clear()
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
	d.clear()
	if d.json || len(d.modes) == 0 {
		return d.err
	}
	w := tabwriter.NewWriter(d.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "mode\tget p50\tp99\tp99.9\tgets\tscans\tscan p50\tp99\tserver\t")
	for i, o := range d.outcomes {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%.0f %%\t\n", d.modes[i].name,
			ms(o.Gets.P50), ms(o.Gets.P99), ms(o.Gets.P99_9), o.Gets.Count,
			o.ScansIn, ms(o.Scans.P50), ms(o.Scans.P99), 100*o.Cores)
	}
	return w.Flush()
}

func ms(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}

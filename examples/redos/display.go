package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// figures is the JSON object of a mode.
type figures struct {
	Mode               string `json:"mode"`
	Attacks            int    `json:"attacks"`
	Stopped            int    `json:"stopped"`
	Answered           int    `json:"answered"`
	LatenessP50us      int64  `json:"lateness_p50_us"`
	LatenessP99us      int64  `json:"lateness_p99_us"`
	LatenessMaxus      int64  `json:"lateness_max_us"`
	PingP50us          int64  `json:"ping_p50_us"`
	PingP99us          int64  `json:"ping_p99_us"`
	WrongBenign        int    `json:"wrong_benign"`
	GeneratorLateP99us int64  `json:"generator_late_p99_us"` // how late the generator sent its requests
	loadtest.Cost
}

// display shows the progress and the results.
type display struct {
	console *loadtest.Console
	results *loadtest.Results
}

func newDisplay(stdout, stderr io.Writer, json bool) *display {
	return &display{loadtest.NewConsole(stderr), loadtest.NewResults(stdout, json,
		"mode", "attacks", "answered", "stopped", "late p50", "p99", "max", "ping p50", "p99", "wrong benign")}
}

func (d *display) progress(m mode, l load, p progress) {
	d.console.Progress(m.Name+": "+m.About, fmt.Sprintf("%-8s %4.1f of %.1f s, %6d pings and %3d attacks have ended",
		m.Name, min(p.Elapsed, l.end()).Seconds(), l.end().Seconds(), p.Pings, p.Attacks))
}

// result shows the outcome of a mode.
func (d *display) result(m mode, o outcome) {
	d.console.Late(m.Name, o.Late)
	if o.Escaped != "" {
		d.console.Status("%s: %d attacks were not stopped; the first: %s", m.Name, o.Attacks-o.Stopped, o.Escaped)
	}
	if o.Benign > 0 {
		d.console.Status("%s: %d benign verdicts were wrong or did not come; the first: %s", m.Name, o.Benign, o.Wrong)
	}
	d.console.Clear()
	late, pings := o.Lateness, o.Pings
	d.results.Add(figures{
		Mode: m.Name, Attacks: o.Attacks, Stopped: o.Stopped, Answered: o.Answered,
		LatenessP50us: late.P50.Microseconds(), LatenessP99us: late.P99.Microseconds(), LatenessMaxus: late.Max.Microseconds(),
		PingP50us: pings.P50.Microseconds(), PingP99us: pings.P99.Microseconds(),
		WrongBenign: o.Benign, GeneratorLateP99us: o.Late.Microseconds(),
		Cost: o.Used.Each(o.Requests),
	}, m.Name, strconv.Itoa(o.Attacks), strconv.Itoa(o.Answered), strconv.Itoa(o.Stopped),
		loadtest.Ms(late.P50), loadtest.Ms(late.P99), loadtest.Ms(late.Max),
		loadtest.Ms(pings.P50), loadtest.Ms(pings.P99), strconv.Itoa(o.Benign))
}

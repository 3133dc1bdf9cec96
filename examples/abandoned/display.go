package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/cocoon-go/cocoon/examples/internal/loadtest"
)

// figures is the JSON object of a mode.
type figures struct {
	Mode          string `json:"mode"`
	AloneUs       int64  `json:"alone_us"`
	Left          int    `json:"left"`
	Stopped       int    `json:"stopped"`
	InTime        int    `json:"in_10ms"`
	LatenessP50us int64  `json:"lateness_p50_us"`
	LatenessP99us int64  `json:"lateness_p99_us"`
	LatenessMaxus int64  `json:"lateness_max_us"`
}

// display shows progress, and the results as JSON lines or as a table.
type display struct {
	console *loadtest.Console
	stdout  io.Writer
	json    bool
}

func (d display) results(all []outcome) error {
	if d.json {
		encoder := json.NewEncoder(d.stdout)
		var errs []error
		for _, o := range all {
			errs = append(errs, encoder.Encode(figures{
				Mode: o.Mode, AloneUs: o.Alone.Microseconds(), Left: o.Left, Stopped: o.Stopped, InTime: o.InTime,
				LatenessP50us: o.Late.P50.Microseconds(), LatenessP99us: o.Late.P99.Microseconds(), LatenessMaxus: o.Late.Max.Microseconds(),
			}))
		}
		return errors.Join(errs...)
	}
	w := tabwriter.NewWriter(d.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "mode\twork\tclient left\tstopped\tin 10 ms\tlate p50\tp99\tmax\t")
	for _, o := range all {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\t%s\t%s\t\n", o.Mode, loadtest.Ms(o.Alone), o.Left, o.Stopped, o.InTime,
			loadtest.Ms(o.Late.P50), loadtest.Ms(o.Late.P99), loadtest.Ms(o.Late.Max))
	}
	return w.Flush()
}

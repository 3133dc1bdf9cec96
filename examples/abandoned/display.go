package main

import (
	"io"
	"strconv"

	"github.com/cocoon-go/cocoon/internal/loadtest"
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

// newResults returns the printer of the figures.
func newResults(stdout io.Writer, json bool) *loadtest.Results {
	return loadtest.NewResults(stdout, json, "mode", "work", "client left", "stopped", "in 10 ms", "late p50", "p99", "max")
}

// show prints the figures of a mode.
func (o outcome) show(results *loadtest.Results) {
	results.Add(figures{
		Mode: o.Mode, AloneUs: o.Alone.Microseconds(), Left: o.Left, Stopped: o.Stopped, InTime: o.InTime,
		LatenessP50us: o.Late.P50.Microseconds(), LatenessP99us: o.Late.P99.Microseconds(), LatenessMaxus: o.Late.Max.Microseconds(),
	}, o.Mode, loadtest.Ms(o.Alone), strconv.Itoa(o.Left), strconv.Itoa(o.Stopped), strconv.Itoa(o.InTime),
		loadtest.Ms(o.Late.P50), loadtest.Ms(o.Late.P99), loadtest.Ms(o.Late.Max))
}

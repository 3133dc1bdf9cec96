package main

import (
	"fmt"
	"io"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

const about = `Hol shows head-of-line blocking in a Go server, and what Cocoon does about it.

A net/http server over a bbolt database responds to short gets and long scans; its work
is fixed, and at the default rate scans alone take about 70 % of its core. A generator
in another process sends both at times chosen in advance, checks every response, and
counts latency from these times. The modes, one after another:

`

const after = `
Gets, scans and their latencies count in the measured time only. "server" is the load
of the server process: 100 % is one core.

Usage: go run ./examples/hol [flags]

`

// options are the options of the command line.
type options struct {
	*loadtest.Command[mode]

	duration time.Duration
	getRate  float64
	scanRate float64 // for each of the server's cores
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	o.Command = loadtest.NewCommand("hol", about, after, modes, stderr)
	flags := o.Flags
	flags.DurationVar(&o.duration, "duration", 6*time.Second, "how long to measure each mode, after a second to warm up")
	flags.Float64Var(&o.getRate, "get-rate", 500, "gets a second")
	flags.Float64Var(&o.scanRate, "scan-rate", 28, "scans a second for each of the server's cores")
	if err := o.Parse(args); err != nil {
		return o, err
	}
	switch {
	case o.duration < 100*time.Millisecond || o.duration > time.Hour:
		return o, fmt.Errorf("-duration %v; want 100ms to 1h", o.duration)
	case !(o.getRate >= 1 && o.getRate <= 100_000):
		return o, fmt.Errorf("-get-rate %v; want 1 to 100000", o.getRate)
	case !(o.scanRate >= 0 && o.scanRate <= 100_000):
		return o, fmt.Errorf("-scan-rate %v; want 0 to 100000", o.scanRate)
	}
	return o, nil
}

// Hol shows head-of-line blocking in a Go server, and how Cocoon prevents it.
//
// A net/http server over bbolt serves short gets and long scans. A generator in another process
// sends both, at times chosen in advance, and measures latency from those times. The experiment
// runs four times: without scans, with plain net/http, with a raised GOMAXPROCS, and with Cocoon,
// where scans are preemptible and gets are safe.
package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

const (
	records     = 200_000
	scanRecords = 120_000 // 25 ms of one 2.6 GHz core
	seed        = 1       // the same schedule for every mode and every run
)

// roles are the roles of the child processes.
var roles = loadtest.Roles{
	"server":    loadtest.Role(serve),
	"generator": loadtest.Role(generate),
}

func main() { roles.Main("hol", run) }

// run runs the program with the user's arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	show := newDisplay(stdout, stderr, o.JSON)
	show.console.Notes(o.Notes)
	e := experiment{
		load: load{
			Records: records, ScanRecords: scanRecords,
			GetRate: o.getRate, ScanRate: o.scanRate * float64(o.Placement.ServerCores()),
			WarmUp: time.Second, Duration: o.duration, Seed: seed,
		},
		placement: o.Placement,
		stderr:    stderr,
	}
	show.console.Status("%g gets and %g scans of %d records a second; %v", e.load.GetRate, e.load.ScanRate, scanRecords, e.placement)
	err = e.run(ctx, o.Modes, show)
	return errors.Join(err, show.results.Finish())
}

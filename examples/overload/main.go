// Overload shows what a Go server does with twice the load that it can bear, and what limiters and
// Cocoon make of that.
//
// A net/http server answers requests of three classes and two tenants by work that fits its
// deadlines, but for a batch request of 200 ms now and then. A generator in another process sends
// them at moments drawn beforehand: a normal load first, then a crowd at one moment, then twice the
// server's capacity. The same happens with plain net/http, with a semaphore, with the adaptive
// limiters of failsafe-go and go-zero, and with Cocoon, several times in turn.
//
// It is a module of its own, because of the peers it has.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// roles are those of the child processes.
var roles = loadtest.Roles{
	"server":    loadtest.Role(serve),
	"generator": loadtest.Role(generate),
	"calibrate": loadtest.Role(calibrate),
}

func main() { roles.Main("overload", run) }

// run is the program as its user calls it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	show := newDisplay(stdout, stderr, o.JSON)
	show.console.Notes(o.Notes)
	e := experiment{placement: o.Placement, stderr: stderr}
	hashes, err := e.calibrate(ctx)
	if err != nil {
		return fmt.Errorf("calibration: %w", err)
	}
	capacity := float64(o.Placement.ServerCores()) / meanCost().Seconds()
	e.load = load{
		Hashes: hashes, Calm: calmShare * capacity, Surge: o.surge * capacity, Burst: o.burst,
		WarmUp: o.warmUp, Duration: o.duration,
	}
	show.console.Status("the server can do the work of %.0f requests a second; they come at %.0f, and then %d at once and %.0f a second; %v",
		capacity, e.load.Calm, e.load.Burst, e.load.Surge, e.placement)
	err = e.run(ctx, o.Modes, o.rounds, show)
	return errors.Join(err, show.results.Finish())
}

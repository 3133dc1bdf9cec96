// Overload shows how a Go server behaves at twice its capacity, and how limiters and Cocoon change
// that.
//
// A net/http server serves requests of three classes and two tenants with work that fits their
// deadlines, except for an occasional batch request of 200 ms. A generator in another process sends
// them at times chosen in advance: a normal load first, then a burst, then twice the server's
// capacity. The experiment runs with plain net/http, with a semaphore, with the adaptive limiters
// of failsafe-go and go-zero, and with Cocoon, several times in turn.
//
// Overload is a separate module, because of its dependencies on these limiters.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// roles are the roles of the child processes.
var roles = loadtest.Roles{
	"server":    loadtest.Role(serve),
	"generator": loadtest.Role(generate),
	"calibrate": loadtest.Role(calibrate),
}

func main() { roles.Main("overload", run) }

// run runs the program with the user's arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	show := newDisplay(stdout, stderr, o.JSON)
	show.console.Notes(o.Notes)
	e := experiment{placement: o.Placement, page: o.page, folder: o.folder, stderr: stderr}
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

// Redos shows a server that survives evil regular expressions.
//
// A net/http server compiles and matches patterns from its users, with the unmodified
// github.com/dlclark/regexp2, without its own timeout. A generator in another process attacks it
// with patterns that take practically forever, and measures how long a ping takes. The experiment
// runs three times: without attacks, with plain net/http, and with Cocoon, where one policy limits
// the time of a match.
//
//	go run ./cmd/cocoon run ./examples/redos
//
// builds it with safe points in regexp2, without a change to its source. Built by the go command
// alone, the program runs too, and reports that nothing can be stopped.
package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

const (
	limit = 100 * time.Millisecond // of a match
	seed  = 1                      // the same schedule for every mode and every run
)

// roles are the roles of the child processes.
var roles = loadtest.Roles{
	"server":    loadtest.Role(serve),
	"generator": loadtest.Role(generate),
}

func main() { roles.Main("redos", run) }

// run runs the program with the user's arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	show := newDisplay(stdout, stderr, o.JSON)
	show.console.Notes(o.Notes)
	stoppable, err := hasSafePoints(ctx)
	if err != nil {
		return err
	}
	if !stoppable {
		show.console.Status("%s", withoutSafePoints)
	}
	e := experiment{
		load: load{
			CasesFile: o.casesFile, Cases: len(o.cases),
			PingRate: o.pingRate, AttackRate: o.attackRate * float64(o.Placement.ServerCores()),
			WarmUp: time.Second, Patience: 2 * time.Second, Seed: seed,
		},
		placement: o.Placement,
		stderr:    stderr,
	}
	show.console.Status("%d attacks, %g a second, and %g pings; a match may take %v; %v",
		len(o.cases), e.load.AttackRate, o.pingRate, limit, e.placement)
	err = e.run(ctx, o.Modes, show)
	return errors.Join(err, show.results.Finish())
}

// Abandoned shows what happens to work after its client has disconnected.
//
// A net/http server responds with a large value in JSON. A client requests the value and
// disconnects before the response, in each round at a different time. With plain net/http
// json.Marshal runs to its end for no client, because it takes no context (golang/go#50678). With
// Cocoon the ready-made policy policy.CallerGone stops it.
//
//	go run ./cmd/cocoon run -cocoon.pkgs=bytes,encoding/json ./examples/abandoned
//
// builds it with safe points in encoding/json and in its buffers. Built by the plain go command,
// the program runs too, and reports that nothing can be stopped.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

const about = `Abandoned shows what happens to work after its client has disconnected.

A net/http server responds with a large value in JSON. A client requests it and
disconnects before the response: each time at another moment of json.Marshal, from its
beginning to its end. The modes, one after another:

  plain   net/http alone
  cocoon  with the policy policy.CallerGone

"work" is how long the work takes when the client waits, "late" how long after the client
disconnected it ended. Only a program with safe points in encoding/json can stop the work,
and with safe points in bytes also while a buffer grows. Usage:

    go run ./cmd/cocoon run -cocoon.pkgs=bytes,encoding/json ./examples/abandoned [flags]

`

// roles are the roles of the child processes.
var roles = loadtest.Roles{"server": loadtest.Role(serve)}

// modes are the servers with and without Cocoon.
var modes = []struct {
	name   string
	cocoon bool
}{{"plain", false}, {"cocoon", true}}

func main() { roles.Main("abandoned", run) }

// options are the options of the command line.
type options struct {
	json   bool
	size   int // of the value in JSON, in MB
	rounds int
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("abandoned", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.json, "json", false, "print one JSON object a mode instead of a table")
	flags.IntVar(&o.size, "size", 200, "size of the value in JSON, in `MB`")
	flags.IntVar(&o.rounds, "rounds", 20, "how often the client leaves")
	flags.Usage = func() {
		fmt.Fprint(stderr, about)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("argument %q; want flags only, see -h", flags.Arg(0))
	case o.size < 1 || o.size > 4000:
		return o, fmt.Errorf("-size %d; want 1 to 4000", o.size)
	case o.rounds < 1 || o.rounds > 10_000:
		return o, fmt.Errorf("-rounds %d; want 1 to 10000", o.rounds)
	}
	return o, nil
}

// run runs the program with the user's arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	where, _, err := loadtest.Place("auto")
	if err != nil {
		return err
	}
	console, results := loadtest.NewConsole(stderr), newResults(stdout, o.json)
	for _, m := range modes {
		e := experiment{mode: m.name, config: serverConfig{o.size, m.cocoon}, rounds: o.rounds, cores: where.Server, stderr: stderr}
		out, err := e.run(ctx, console)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("mode %s: %w", m.name, err)
		}
		if m.cocoon && out.Stopped == 0 {
			console.Status("%s", withoutSafePoints)
		}
		out.show(results)
	}
	return results.Finish()
}

const withoutSafePoints = `no work was stopped, as in a program that was built without safe points in encoding/json; build it with them:
    go run ./cmd/cocoon run -cocoon.pkgs=bytes,encoding/json ./examples/abandoned`

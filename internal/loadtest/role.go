// Package loadtest is the common part of the examples and bench. An experiment starts copies of its
// program as server and as generator, each on separate cores. The generator sends requests at times
// drawn beforehand, and measures latency from those times.
package loadtest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Roles are the functions that a copy of this program runs if its first argument names one; the
// second argument is the role's configuration in JSON.
type Roles map[string]func(config string) error

// Role makes a role from a function with a configuration.
func Role[C any](play func(C) error) func(string) error {
	return func(text string) error {
		// Ctrl-C goes to the whole group; the experiment ends its children in order.
		signal.Ignore(os.Interrupt)
		var config C
		if err := json.Unmarshal([]byte(text), &config); err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
		return play(config)
	}
}

// Main is the main function of an example: it plays the role that the command line names, or runs
// the example until it ends or is interrupted.
func (r Roles) Main(program string, run func(ctx context.Context, args []string, stdout, stderr io.Writer) error) {
	if r.Play(program) {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		os.Exit(1)
	}
}

// Play plays the role that the command line names, and reports whether it names one. If the role
// returns an error, Play ends the process. Call it first in the TestMain of tests that start
// children.
func (r Roles) Play(program string) bool {
	if len(os.Args) != 3 || r[os.Args[1]] == nil {
		return false
	}
	if err := r[os.Args[1]](os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "%s %s: %v\n", program, os.Args[1], err)
		os.Exit(1)
	}
	return true
}

// Guests shows a server that runs its tenants' scripts as WebAssembly guests.
//
// Three tenants run scripts, from four clients each, on two slots: gold and silver count primes,
// and mallory's scripts never end. In addition, a short urgent script arrives every 25 ms. The
// experiment runs twice: without policies, where scripts take turns, and with policies.yaml, which
// gives the tenants shares of the slots, stops scripts that exceed their budget, and runs urgent
// scripts at once.
//
//	go run ./examples/guests
//
// The scripts are in Forth, for the interpreter in the folder forth, or in JavaScript if -quickjs
// names QuickJS as a WebAssembly file. Silver's are in SQL if -sqlite names SQLite as a WebAssembly
// file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const slots = 2

// options are the flags.
type options struct {
	quickjs  string
	sqlite   string
	duration time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil && ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "guests: interrupted")
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "guests:", err)
		os.Exit(1)
	}
}

// run runs the program with the user's arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	language, silver, err := o.languages()
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "scripts in %s, ", language.name)
	if silver != nil {
		fmt.Fprintf(stdout, "silver's in %s, ", silver.name)
	}
	fmt.Fprintf(stdout, "%d slots, %v each\n", slots, o.duration)
	for _, m := range modes {
		figures, err := experiment{mode: m, language: language, silver: silver, duration: o.duration}.run(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		print(stdout, m, figures)
	}
	return nil
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("guests", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.quickjs, "quickjs", "", "run scripts in JavaScript, by `FILE`: quickjs.wasm of the npm package quickjs-wasi")
	flags.StringVar(&o.sqlite, "sqlite", "", "run silver's scripts in SQL, by `FILE`: sqlite.wasm as guest/testdata/guests/build makes it")
	flags.DurationVar(&o.duration, "duration", 4*time.Second, "how long each of the two runs takes")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("%q is not a flag; run with -h for help", flags.Arg(0))
	case o.duration < 100*time.Millisecond:
		return o, fmt.Errorf("-duration %v; want at least 100ms", o.duration)
	}
	return o, nil
}

// languages returns the language of the scripts, and silver's if it has another.
func (o options) languages() (all, silver *language, err error) {
	all = forth()
	if o.quickjs != "" {
		wasm, err := os.ReadFile(o.quickjs)
		if err != nil {
			return nil, nil, fmt.Errorf("-quickjs: %w", err)
		}
		all = javaScript(wasm)
	}
	if o.sqlite != "" {
		wasm, err := os.ReadFile(o.sqlite)
		if err != nil {
			return nil, nil, fmt.Errorf("-sqlite: %w", err)
		}
		silver = sql(wasm)
	}
	return all, silver, nil
}

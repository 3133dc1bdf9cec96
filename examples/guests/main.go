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
// names QuickJS as a WebAssembly file.
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
	language, err := o.language()
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "scripts in %s, %d slots, %v each\n", language.name, slots, o.duration)
	for _, m := range modes {
		figures, err := experiment{mode: m, language: language, duration: o.duration}.run(ctx)
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

// language returns the language of the scripts.
func (o options) language() (*language, error) {
	if o.quickjs == "" {
		return forth(), nil
	}
	wasm, err := os.ReadFile(o.quickjs)
	if err != nil {
		return nil, fmt.Errorf("-quickjs: %w", err)
	}
	return javaScript(wasm), nil
}

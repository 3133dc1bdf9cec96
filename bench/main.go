// Bench measures every figure that Cocoon claims, beside its peers and in the same run: a ratio says more than a number
// from another machine.
//
// A section is one file with a func(context.Context, *report) error, and one line in sections.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"syscall"
)

// section measures one thing. It adds its results to the report as it gets them.
type section struct {
	name    string
	about   string
	measure func(ctx context.Context, r *report) error
}

var sections = []section{
	{"fair", "three tenants that saturate a loop: their shares of the slot time, medians of three rounds of 3 s (20 s)", fair},
	{"hol", "gets behind long scans in a net/http server: the example hol, median of three runs (2 min)", hol},
	{"http", "a net/http server that says hello, with the middleware and without: medians of 400 rounds of 0.1 s (1 min)", httpSection},
	{"micro", "what a run, a poll, a switch, an evaluation, a tick, a throw and an echo take: medians of five rounds (2 min)", micro},
	{"scale", "runs where slots are free, on 1 to 16 cores: medians of five rounds (20 s)", scale},
	{"native", "the polls that cocoon build inserts: three programs, and the benchmarks of eight packages, built with and without (7 min)", native},
	{"quantum", "long tasks that take turns and short ones in between: the curve of the quantum, medians of three rounds of 1 s (25 s)", quantum},
	{"overload", "a server at twice its capacity, and five ways to meet that: the example overload, medians of three rounds (1 min)", overload},
	{"rebuild", "cocoon build with nothing to do, beside go build: medians of 15 (1 min)", rebuild},
	{"redos", "a server under attack by evil regular expressions: the example redos (2 min)", redos},
}

func main() {
	if server := os.Getenv(echoServer); server != "" {
		if err := echoClient(server, os.Getenv(echoSpan)); err != nil {
			fmt.Fprintln(os.Stderr, "bench: client of an echo:", err)
			os.Exit(1)
		}
		return
	}
	if kind := os.Getenv(httpServer); kind != "" {
		if err := serveHTTP(kind); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s server: %v\n", kind, err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	asJSON := flags.Bool("json", false, "print one JSON object a result instead of a table")
	cpus := flags.Int("cpus", runtime.NumCPU(), "how many cores section scale may use")
	pattern := flags.String("run", "", "run only the sections whose name matches this regular `expression`")
	flags.Usage = func() {
		fmt.Fprint(stderr, "Bench measures what Cocoon claims, beside its peers.\n\nSections:\n\n")
		for _, s := range sections {
			fmt.Fprintf(stderr, "  %-8s %s\n", s.name, s.about)
		}
		fmt.Fprint(stderr, "\nIt exits with 1 when a claim does not hold.\n\nUsage: go run -C bench . [flags]\n\n")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("argument %q; want flags only, see -h", flags.Arg(0))
	}
	chosen, err := choose(*pattern)
	if err != nil {
		return err
	}
	if *cpus < 1 || *cpus > runtime.NumCPU() {
		return fmt.Errorf("-cpus %d: this machine has %d", *cpus, runtime.NumCPU())
	}
	r := &report{stdout: stdout, stderr: stderr, json: *asJSON, cpus: *cpus}
	for _, s := range chosen {
		r.begin(s)
		if err := s.measure(ctx, r); err != nil {
			return errors.Join(fmt.Errorf("section %s: %w", s.name, err), r.finish())
		}
	}
	return r.finish()
}

// choose returns the sections whose name matches the pattern, at least one.
func choose(pattern string) (chosen []section, err error) {
	matcher, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("-run: %w", err)
	}
	var names []string
	for _, s := range sections {
		names = append(names, s.name)
		if matcher.MatchString(s.name) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("-run %s: no section matches; there are %v", pattern, names)
	}
	return chosen, nil
}

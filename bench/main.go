// Bench measures every figure that Cocoon claims, in the same run as its peers: a ratio is more
// informative than a number from another machine.
//
// A section is one file with a func(context.Context, *report) error, and one line in sections.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// section measures one thing. It adds each result to the report when it has it.
type section struct {
	name    string
	about   string
	cores   int // cores to measure on, unless -cpus sets them; 0: -cpus does not apply
	measure func(ctx context.Context, r *report) error
}

// everyCore is the machine's number of cores.
var everyCore = runtime.NumCPU()

var sections = []section{
	{"fair", "three tenants that saturate a loop: their shares of the slot time, medians of three rounds of 3 s (20 s)", 1, fair},
	{"grpc", "a gRPC server whose calls are tasks and gRPC alone: medians of 100 rounds of 50 ms; and how load moves away (1 min)", everyCore, grpcSection},
	{"hol", "gets behind long scans in a net/http server: the example hol, median of three runs (2 min)", 1, hol},
	{"http", "a net/http server that says hello, or sends 16 KB, with the middleware, with policies, and without: medians of 400 rounds of 0.15 s each (2 min)", everyCore, httpSection},
	{"memory", "what tasks cost that wait, have ended, or start their successors, beside goroutines: medians of three processes, of a million queued tasks one (2 min)", 0, memory},
	{"micro", "what a run, a poll, a switch, an evaluation, a tick, a throw and an echo take: medians of five rounds (2 min)", 0, micro},
	{"router", "chi and gin with an endpoint that answers JSON and the guide's policies, and without Cocoon: medians of 40 rounds of 0.1 s at full load, of 9 of 1 s at 2000 requests a second (1 min)", 1, routerSection},
	{"scale", "runs where slots are free, on 1 to 16 cores: medians of five rounds (20 s)", everyCore, scale},
	{"native", "the polls that cocoon build inserts: three programs, and the benchmarks of eight packages, built with and without (7 min)", 0, native},
	{"quantum", "long tasks that take turns and short ones in between: the curve of the quantum, medians of three rounds of 1 s (25 s)", 0, quantum},
	{"pause", "what a stall report and the search for gaps do to others among 100,000 goroutines: medians of seven rounds of 3 s (1 min)", 0, pauses},
	{"streams", "messages of gRPC's streams, 1 to 64 streams at once: tasks, with policies, and gRPC alone; medians of 20 rounds of 0.1 s (1 min)", everyCore, streams},
	{"overload", "a server at twice its capacity, and five ways to meet that: the example overload, medians of three rounds (1 min)", 1, overload},
	{"rebuild", "cocoon build beside go build: a large program with empty caches, and with nothing to do, and a small one (10 min)", 0, rebuild},
	{"sql", "transactions of PostgreSQL, where it is installed, in tasks and plain: undisturbed, broken off 25 times a second, and for a pool that is too small: medians of 15 rounds of 0.5 s (1 min)", 0, sqlSection},
	{"unannounced", "handlers that wait and do not say so, and short requests beside them: with the middleware, with cocoon.Block, and plain: medians of five rounds of 0.5 s (2 min)", 1, unannounced},
	{"redos", "a server under attack by evil regular expressions: the example redos (2 min)", 1, redos},
}

// roles are the roles of the processes that the sections start.
var roles = loadtest.Roles{
	"echo":        loadtest.Role(echoClient),
	"grpc":        loadtest.Role(serveGRPC),
	"http":        loadtest.Role(serveHTTP),
	"memory":      loadtest.Role(measureMemory),
	"router":      loadtest.Role(serveRouter),
	"unannounced": loadtest.Role(serveWaiting),
}

func main() { roles.Main("bench", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	asJSON := flags.Bool("json", false, "print one JSON object a result instead of a table")
	cpus := flags.Int("cpus", 0, "how many cores what is measured may use: the server of a section that starts one, the loop of fair, the largest of scale; `N` up to the machine's (default: 1, but all for grpc, http, scale and streams)")
	pattern := flags.String("run", "", "run only the sections whose name matches this regular `expression`")
	flags.Usage = func() {
		fmt.Fprint(stderr, "Bench measures what Cocoon claims, beside its peers.\n\nSections:\n\n")
		for _, s := range sections {
			fmt.Fprintf(stderr, "  %-11s %s\n", s.name, s.about)
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
	if err := checkCPUs(*cpus, chosen); err != nil {
		return err
	}
	r := &report{stdout: stdout, stderr: stderr, json: *asJSON}
	for _, s := range chosen {
		r.begin(s, *cpus)
		if err := s.measure(ctx, r); err != nil {
			return errors.Join(fmt.Errorf("section %s: %w", s.name, err), r.finish())
		}
	}
	return r.finish()
}

// checkCPUs checks the flag -cpus; 0 means not set.
func checkCPUs(cpus int, chosen []section) error {
	if cpus == 0 {
		return nil
	}
	if cpus < 0 || cpus > everyCore {
		return fmt.Errorf("-cpus %d: this machine has %d cores; want 1 to %d", cpus, everyCore, everyCore)
	}
	takes := func(s section) bool { return s.cores != 0 }
	if !slices.ContainsFunc(chosen, takes) {
		var names []string
		for _, s := range sections {
			if takes(s) {
				names = append(names, s.name)
			}
		}
		return fmt.Errorf("-cpus %d: the number of cores is fixed in the sections chosen; it is for %s", cpus, strings.Join(names, ", "))
	}
	return nil
}

// choose returns the sections with names that match the pattern, at least one.
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

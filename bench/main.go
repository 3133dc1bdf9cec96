// Bench measures every figure that Cocoon claims, in the same run as its peers: a ratio is more
// informative than a number from another machine.
//
// A section is one file with a func(context.Context, *report) error, and one line in sections.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

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
	{"guest", "WebAssembly guests: what epochs and fuel cost, beside wasmtime and wazero alone, medians of 11 rounds; calls, switches, suspension, memory and rewriting (5 min)", 0, guestSection},
	{"hol", "gets behind long scans in a net/http server: the example hol, median of three runs (2 min)", 1, hol},
	{"http", "a net/http server that says hello, or sends 16 KB, with the middleware, with policies, and without: medians of 400 rounds of 0.15 s each (2 min)", everyCore, httpSection},
	{"limits", "the processor time of a task that a limit throws, alone and beside busy goroutines: medians of nine (10 s)", 0, limits},
	{"memory", "what tasks cost that wait, have ended, or start their successors, and what goroutines cost: medians of three processes, of a million queued tasks one (2 min)", 0, memory},
	{"micro", "what a run, a poll, a switch, an evaluation, a tick, a throw and an echo take, and what a task keeps of a core: medians of five rounds (2 min)", 0, micro},
	{"router", "chi and gin with an endpoint that answers JSON and the guide's policies, and without Cocoon: medians of 40 rounds of 0.1 s at full load, of 9 of 1 s at 2000 requests a second (1 min)", 1, routerSection},
	{"scale", "runs where slots are free, on 1 to 16 cores: medians of five rounds (20 s)", everyCore, scale},
	{"native", "the polls that cocoon build inserts: three programs, and the benchmarks of eight packages, built with and without, each in eight layouts (9 min of processor time)", 0, native},
	{"quantum", "long tasks that take turns and short ones in between: the curve of the quantum, medians of three rounds of 1 s (25 s)", 0, quantum},
	{"pause", "what a stall report and the search for gaps do to others among 100,000 goroutines: medians of seven rounds of 3 s (1 min)", 0, pauses},
	{"streams", "messages of gRPC's streams, 1 to 64 streams at once: tasks, with policies, and gRPC alone; medians of 40 rounds of 0.1 s (2 min)", everyCore, streams},
	{"overload", "a server at twice its capacity, and five ways to meet that: the example overload, medians of three rounds (1 min)", 1, overload},
	{"rebuild", "cocoon build beside go build: a large program with empty caches, and with nothing to do, and a small one (10 min)", 0, rebuild},
	{"sql", "transactions of PostgreSQL, where it is installed, in tasks and plain: undisturbed, broken off 25 times a second, and for a pool that is too small: medians of 15 rounds of 0.5 s (1 min)", 0, sqlSection},
	{"unannounced", "handlers that wait and do not say so, and short requests at the same time: with the middleware, with cocoon.Block, and plain: medians of 15 rounds of 0.5 s (5 min)", 1, unannounced},
	{"watch", "what it costs to be able to see decisions while nothing is decided, and a storm of them: medians of 15 rounds of 0.2 s, of a hello server of 400 of 0.05 s (1 min)", everyCore, watch},
	{"redos", "a server under attack by evil regular expressions: the example redos (2 min)", 1, redos},
}

// roles are the roles of the processes that the sections start.
var roles = loadtest.Roles{
	"echo":        loadtest.Role(echoClient),
	"grpc":        loadtest.Role(serveGRPC),
	"http":        loadtest.Role(serveHTTP),
	"memory":      loadtest.Role(measureMemory),
	"router":      loadtest.Role(serveRouter),
	"share":       loadtest.Role(beBusy),
	"unannounced": loadtest.Role(serveWaiting),
}

func main() { roles.Main("bench", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if o.from != "" {
		results, err := load(o.from)
		if err != nil {
			return err
		}
		return o.drawAll(results, stderr)
	}
	r := &report{stdout: stdout, stderr: stderr, json: o.json}
	for _, s := range o.chosen {
		r.begin(s, o.cpus)
		if err := s.measure(ctx, r); err != nil {
			return errors.Join(fmt.Errorf("section %s: %w", s.name, err), r.finish())
		}
	}
	broken := r.finish()
	if o.plots != "" {
		return errors.Join(broken, o.drawAll(r.results(), stderr))
	}
	return broken
}

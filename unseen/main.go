// Command unseen tests cocoon build with libraries for which it was not tuned. It builds the test
// program of each library, throws into a long operation of the library at random moments, and then
// runs the library's own tests in the same process. Run it in its folder: go run -C unseen . -h.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// options are the command line.
type options struct {
	only      []string
	throws    int
	processes int
	check     bool
	json      bool
	dir       string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 1 if a library was harmed, 2 if the command line is wrong.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err == flag.ErrHelp {
		return 0
	}
	if err == nil {
		var chosen []library
		if chosen, err = choose(libraries, o.only); err == nil {
			return tryAll(ctx, o, chosen, stdout, stderr)
		}
	}
	fmt.Fprintln(stderr, "unseen:", err)
	return 2
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("unseen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	only := flags.String("only", "", "the `names` or kinds of libraries, with commas between them; empty: all")
	flags.IntVar(&o.throws, "throws", 100, "the `number` of throws into each operation")
	flags.IntVar(&o.processes, "processes", 4, "the `number` of processes that share the throws; each starts with empty caches")
	flags.BoolVar(&o.check, "check", false, "only build the libraries by go and by cocoon, and compare the results of each operation")
	flags.BoolVar(&o.json, "json", false, "print a line of JSON for each library, instead of the table")
	flags.StringVar(&o.dir, "dir", "", "the `folder` for the builds, which stay there; empty: a temporary one")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("there is an argument %q; want flags only", flags.Arg(0))
	}
	if o.throws < 1 || o.processes < 1 || o.processes > o.throws {
		return o, fmt.Errorf("-throws %d -processes %d: want at least one throw for each process", o.throws, o.processes)
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	return o, nil
}

// choose returns the libraries of the given names and kinds, or all if there are none.
func choose(all []library, only []string) (chosen []library, err error) {
	for _, name := range only {
		if !slices.ContainsFunc(all, func(l library) bool { return l.name == name || l.kind == name }) {
			return nil, fmt.Errorf("-only %s: there is no library of this name or kind", name)
		}
	}
	for _, l := range all {
		if len(only) == 0 || slices.Contains(only, l.name) || slices.Contains(only, l.kind) {
			chosen = append(chosen, l)
		}
	}
	return chosen, nil
}

// tryAll tests one library after the other.
func tryAll(ctx context.Context, o options, chosen []library, stdout, stderr io.Writer) (code int) {
	w, err := openWorkplace(ctx, o.dir, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "unseen:", err)
		return 2
	}
	defer w.close()
	var all []row
	for i, l := range chosen {
		w.progress("%s, %d of %d", l.name, i+1, len(chosen))
		if o.check {
			if err := w.check(ctx, l); err != nil {
				fmt.Fprintf(stderr, "%s: %v\n", l.name, err)
				code = 1
			}
			continue
		}
		r := w.try(ctx, l, o)
		if ctx.Err() != nil {
			fmt.Fprintln(stderr, "unseen:", ctx.Err())
			return 2
		}
		if r.harmed() {
			code = 1
		}
		all = append(all, r)
		if o.json {
			r.printJSON(stdout)
		} else {
			r.explain(stderr)
		}
	}
	if !o.json && !o.check {
		printTable(stdout, all)
	}
	return code
}

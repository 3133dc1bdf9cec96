package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// options are the options of the command line.
type options struct {
	json        bool
	cpus        int
	plots, from string
	chosen      []section
}

// parse parses the arguments.
func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.json, "json", false, "print one JSON object a result instead of a table")
	flags.IntVar(&o.cpus, "cpus", 0, "how many cores what is measured may use: the server of a section that starts one, the loop of fair, the largest of scale; `N` up to the machine's (default: 1, but all for grpc, http, scale and streams)")
	pattern := flags.String("run", "", "run only the sections whose name matches this regular `expression`")
	flags.StringVar(&o.plots, "plot", "", "also draw the results as SVG files in this `folder`, relative to the root of the repository; only of the sections that have a plot: "+strings.Join(plotted(), ", "))
	flags.StringVar(&o.from, "from", "", "measure nothing: with -plot, draw the results in this `file`, relative to the root of the repository, that -json printed")
	flags.Usage = func() {
		fmt.Fprint(stderr, "Bench measures what Cocoon claims, beside its peers.\n\nSections:\n\n")
		for _, s := range sections {
			fmt.Fprintf(stderr, "  %-11s %s\n", s.name, s.about)
		}
		fmt.Fprint(stderr, "\nIt exits with 1 when a claim does not hold.\n\nUsage: go run -C bench . [flags]\n\n")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("argument %q; want flags only, see -h", flags.Arg(0))
	}
	if o.from != "" && (o.plots == "" || o.json || o.cpus != 0 || *pattern != "") {
		return o, errors.New("-from needs -plot, and excludes the other flags, because it measures nothing")
	}
	if o.chosen, err = choose(*pattern); err != nil {
		return o, err
	}
	if o.plots != "" && o.from == "" {
		if o.chosen, err = drawable(o.chosen); err != nil {
			return o, err
		}
	}
	return o, checkCPUs(o.cpus, o.chosen)
}

// drawAll draws the plots of the results, and reports the files.
func (o options) drawAll(results []result, stderr io.Writer) error {
	files, err := drawAll(o.plots, results)
	for _, file := range files {
		fmt.Fprintln(stderr, "drew", file)
	}
	return err
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

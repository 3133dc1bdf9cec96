package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

const whyUsage = `usage: cocoon why [-window 1s] [-most 20] FILE

why describes a file of Config.FlightRecorder, or another execution trace of a
program with Config.Trace: what the runtime decided, and which tasks ran, waited
and were suspended around the last decision, or around the end of a trace without
decisions. For everything else in the file: go tool trace FILE.

flags:
`

// runWhy is the verb why.
func runWhy(args []string, s streams) int {
	flags := flag.NewFlagSet("why", flag.ContinueOnError)
	flags.SetOutput(s.err)
	window := flags.Duration("window", time.Second, "how much time before and after the event counts")
	most := flags.Int("most", 20, "list at most so many tasks and decisions each")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), whyUsage)
		flags.PrintDefaults()
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	case flags.NArg() != 1 || *window <= 0 || *most <= 0:
		fmt.Fprintln(s.err, "cocoon why: want one file, and a window and a number above 0; run cocoon why -h")
		return exitUsage
	}
	f, err := os.Open(flags.Arg(0))
	if err != nil {
		fmt.Fprintln(s.err, "cocoon why:", err)
		return exitUsage
	}
	defer f.Close()
	h, err := readHistory(bufio.NewReader(f))
	if err != nil {
		fmt.Fprintf(s.err, "cocoon why: %s: %v\n", flags.Arg(0), err)
		return exitUsage
	}
	h.print(s.out, flags.Arg(0), *window, *most)
	return exitOK
}

// print describes what happened around the event.
func (h *history) print(w io.Writer, file string, window time.Duration, most int) {
	at, what := h.event()
	fmt.Fprintf(w, "%s: %v, %d tasks, %d decisions\n", file, rounded(h.end-h.begin), len(h.tasks), len(h.decisions))
	if len(h.tasks)+len(h.decisions) == 0 {
		fmt.Fprintln(w, "It has no task of Cocoon: was it written with Config.FlightRecorder or Config.Trace?")
		return
	}
	fmt.Fprintf(w, "\naround %s, and %v before and after\n", what, window)
	near := h.near(at, window)
	listed := near[max(0, len(near)-most):]
	if len(listed) < len(near) {
		fmt.Fprintf(w, "\nthe last %d of %d decisions:\n", len(listed), len(near))
	} else if len(near) > 0 {
		fmt.Fprint(w, "\ndecisions:\n")
	}
	for _, d := range listed {
		fmt.Fprintf(w, "  %9s  %s\n", signed(d.at-at), d.text)
	}
	tasks := h.around(at, window)
	fmt.Fprintf(w, "\ntasks, the longest running first:\n  %-10s %10s %10s %10s  %s\n", "then", "ran", "queued", "suspended", "task")
	for _, t := range tasks[:min(most, len(tasks))] {
		fmt.Fprintf(w, "  %-10s %10v %10v %10v  %q\n", t.then, rounded(t.spent[running]), rounded(t.spent[queued]), rounded(t.spent[suspended]), t.name)
	}
	if len(tasks) > most {
		fmt.Fprintf(w, "  and %d more; see -most\n", len(tasks)-most)
	}
}

// rounded leaves out digits beyond the third.
func rounded(d time.Duration) time.Duration {
	switch amount := d.Abs(); {
	case amount >= time.Second:
		return d.Round(time.Millisecond)
	case amount >= time.Millisecond:
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(100 * time.Nanosecond)
}

func signed(d time.Duration) string {
	if d = rounded(d); d > 0 {
		return "+" + d.String()
	}
	return d.String()
}

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cocoon-go/cocoon/unseen/victim"
)

// row is the result of a library.
type row struct {
	Name   string        `json:"name"`
	Kind   string        `json:"kind"`
	Module string        `json:"module"`
	Span   time.Duration `json:"span_ns"`  // of the operation
	Suite  time.Duration `json:"suite_ns"` // of the tests, built by go

	Tests  int `json:"tests"`  // that pass, built by go
	Passed int `json:"passed"` // of these, after the throws

	Stopped int           `json:"stopped"`
	Throws  int           `json:"throws"`
	P50     time.Duration `json:"late_p50_ns"`
	P99     time.Duration `json:"late_p99_ns"`
	Max     time.Duration `json:"late_max_ns"`

	Harm     []string       `json:"harm,omitempty"`
	Returned map[string]int `json:"returned,omitempty"` // instead of the throw
	Kept     []string       `json:"kept,omitempty"`     // from the runtime's log
	// the intended reason, from the table of libraries
	Means string `json:"means,omitempty"`

	late   []time.Duration
	missed time.Duration // the longest that an operation ran on
}

// add adds the report of a process.
func (r *row) add(got victim.Report, err error, calm victim.Report) {
	if err != nil {
		r.Harm = append(r.Harm, err.Error())
		return
	}
	r.Stopped += len(got.Stopped)
	r.Throws += len(got.Stopped) + len(got.Missed)
	for _, late := range got.Missed {
		r.missed = max(r.missed, late)
	}
	r.late = append(r.late, got.Stopped...)
	slices.Sort(r.late)
	if n := len(r.late); n > 0 {
		r.P50, r.P99, r.Max = r.late[n/2], r.late[n*99/100], r.late[n-1]
	}
	for text, n := range got.Returned {
		if r.Returned == nil {
			r.Returned = map[string]int{}
		}
		r.Returned[text] += n
	}
	r.Harm = append(r.Harm, got.Harm...)
	for _, line := range got.Kept {
		if len(r.Kept) < 3 {
			r.Kept = append(r.Kept, line)
		}
	}
	if got.Goroutines > calm.Goroutines+1 {
		r.Harm = append(r.Harm, fmt.Sprintf("%d goroutines are left, and %d in a fresh process", got.Goroutines, calm.Goroutines))
	}
}

// harmed reports whether the library was harmed, or was not stopped without an intended reason.
func (r row) harmed() bool {
	return len(r.Harm) > 0 || r.Passed < r.Tests || r.Throws == 0 || r.Stopped < r.Throws && r.Means == ""
}

// state describes the library after the throws.
func (r row) state() string {
	switch {
	case len(r.Harm) > 0:
		return "harmed"
	case r.Throws == 0:
		return "not tried"
	}
	return "unharmed"
}

// kept returns the reason why operations continued, or "" if each was stopped.
func (r row) kept() string {
	if r.Stopped == r.Throws {
		return ""
	}
	return cmp.Or(r.Means, strings.Join(r.Kept, " "), fmt.Sprintf("unknown; up to %v late", r.missed.Round(time.Millisecond)))
}

func (r row) printJSON(w io.Writer) {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // a row has only plain fields
	}
	fmt.Fprintf(w, "%s\n", text)
}

// explain prints the details that the table leaves out.
func (r row) explain(w io.Writer) {
	fmt.Fprintf(w, "%s: an operation of %v; %d of %d tests in %v; %d of %d stopped, late by %v in the median and %v at most; not stopped, up to %v\n",
		r.Name, r.Span.Round(time.Millisecond), r.Passed, r.Tests, r.Suite.Round(time.Millisecond), r.Stopped, r.Throws, r.P50.Round(time.Microsecond), r.Max.Round(time.Microsecond), r.missed.Round(time.Microsecond))
	for text, n := range r.Returned {
		fmt.Fprintf(w, "\t%d times it returned %s\n", n, text)
	}
	for _, text := range append(slices.Clone(r.Kept), r.Harm...) {
		fmt.Fprintf(w, "\t%s\n", strings.ReplaceAll(text, "\n", "\n\t\t"))
	}
}

// printTable prints the table, in Markdown.
func printTable(out io.Writer, all []row) {
	w := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	fmt.Fprint(w, "| library\t| tests\t| stopped\t| late p50\t| p99\t| max\t| afterwards\t| kept by\t|\n")
	fmt.Fprint(w, "| ---\t| ---:\t| ---:\t| ---:\t| ---:\t| ---:\t| ---\t| ---\t|\n")
	for _, r := range all {
		ms := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
		fmt.Fprintf(w, "| %s\t| %d of %d\t| %d of %d\t| %s\t| %s\t| %s\t| %s\t| %s\t|\n",
			r.Name, r.Passed, r.Tests, r.Stopped, r.Throws, ms(r.P50), ms(r.P99), ms(r.Max), r.state(), r.kept())
	}
	w.Flush()
}

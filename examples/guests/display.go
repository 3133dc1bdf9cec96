package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// print prints what came of a run.
func print(w io.Writer, m mode, tenants []*tenant) {
	var shares int
	var running time.Duration
	for _, t := range tenants {
		shares += t.share
		running += t.running
	}
	fmt.Fprintf(w, "\n%s:\n", m.name)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "tenant\tshare asked\tgot\tscripts\tp50\tp99\tthrows\t")
	for _, t := range tenants {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\t%d\t\n", t.name, percent(t.share, shares), percent(t.running, running),
			len(t.latencies), latency(t.quantile(0.5)), latency(t.quantile(0.99)), t.throws)
	}
	table.Flush()
}

func percent[T int | time.Duration](part, whole T) string {
	if part == 0 || whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(whole))
}

func latency(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return d.Round(10 * time.Microsecond).String()
}

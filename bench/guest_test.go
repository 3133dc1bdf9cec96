package main

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestGuest checks that each part of the section measures what it says, in a short form, and that
// the results of a guest are the same in all ways to run it.
func TestGuest(t *testing.T) {
	t.Setenv("COREMARK", "")
	var progress bytes.Buffer
	r := &report{stdout: &bytes.Buffer{}, stderr: &progress, section: section{name: "guest"}}
	e := guestEffort{effort: effort{rounds: 1, span: 20 * time.Millisecond}, runs: 1, vector: 1 << 16, requests: 100, series: 1, crowd: 20}
	if testing.Short() {
		t.Skip("it multiplies matrices for seconds, and builds gofmt")
	}
	if err := guestWith(t.Context(), r, e); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, x := range r.rows {
		found[x.Name+" "+x.Metric] = true
		if x.Value < 0 || x.Value == 0 && x.Metric != "allocs" {
			t.Errorf("%+v", x)
		}
	}
	for _, name := range []string{"fib", "dot", "matmul", "mean"} {
		for _, metric := range []string{"epoch_overhead", "fuel_overhead"} {
			if !found[name+" "+metric] {
				t.Errorf("no row %s %s", name, metric)
			}
		}
	}
	if runtime.GOOS == "linux" && !found["fib, epoch suspended_own_p99"] {
		t.Error("no row of a suspension's own time")
	}
	for _, row := range []string{"call ns", "switch ns", "switch in an instance ns", "suspended guests bytes",
		"fib, epoch suspended_p99", "stop of the world epoch_longest", "rewriting epoch_rate"} {
		if !found[row] {
			t.Errorf("no row %s", row)
		}
	}
	if want := "skipped: CoreMark's sources are not in"; !found["coremark epoch_score"] && !strings.Contains(progress.String(), want) {
		t.Errorf("no row of CoreMark, and progress lacks %q:\n%s", want, &progress)
	}
}

// TestOverheads: the baseline of a way is that of its engine, and a mean counts no gain.
func TestOverheads(t *testing.T) {
	for way, want := range []int{plainWay, plainWay, plainWay, plainWay, wasmtimeWay, wasmtimeWay, wasmtimeWay} {
		if got := baselineOf(way); got != want {
			t.Errorf("the baseline of way %d is %d; want %d", way, got, want)
		}
	}
	r := &report{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
	reportMeans(r, []overheads{{ratios: []float64{1, 0.5, 4, 9}}, {ratios: []float64{1, 1.21, 1, 9}}})
	var got []string
	for _, x := range r.rows {
		got = append(got, fmt.Sprintf("%s %.2f of %v, %s", x.Metric, x.Value, x.PeerValue, x.bound))
	}
	want := "[epoch_overhead 1.10 of 0, <= 1.05 x fuel_overhead 2.00 of 0, <= 1.15 x]"
	if fmt.Sprint(got) != want {
		t.Errorf("means %v; want %s", got, want)
	}
}

// TestRoundsHaveInstances: each round of a workload has instances of its own.
func TestRoundsHaveInstances(t *testing.T) {
	wasm, err := readGuest(workloadsGuest)
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	defer func(was []opener) { wasmtimes = was }(wasmtimes)
	wasmtimes = []opener{func(ctx context.Context, wasm []byte) (engine, error) {
		opened++
		return openPlain(ctx, wasm)
	}}
	w := workload{name: "fib", function: "fib", args: []int32{10}}
	if _, err := w.measure(t.Context(), guestEffort{effort: effort{rounds: 3}}, wasm); err != nil || opened != 3 {
		t.Errorf("%d instances in 3 rounds, %v", opened, err)
	}
}

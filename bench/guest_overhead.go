package main

import (
	"context"
	"fmt"
	"math"

	"github.com/cocoon-go/cocoon/guest"
)

// ways are the ways to run a guest, in the order of the table. The constants are places in it;
// the ways of wasmtime come last, because it may be missing.
func ways() []opener {
	return append([]opener{openPlain, openGuest(guest.Epoch), openGuest(guest.Fuel), openInterruptible}, wasmtimes...)
}

const (
	plainWay = iota
	epochWay
	fuelWay
	interruptibleWay
	wasmtimeWay
	wasmtimeEpochWay
	wasmtimeFuelWay
)

// guestOverhead measures how much longer a workload takes if its guest can be interrupted, relative
// to the same engine without interruption.
func guestOverhead(ctx context.Context, r *report, e guestEffort) error {
	if len(wasmtimes) == 0 {
		r.progress("without wasmtime: wasmtime-go needs cgo, and Linux or macOS on amd64 or arm64")
	}
	wasm, err := readGuest(workloadsGuest)
	if err != nil {
		return err
	}
	var all []overheads
	for _, w := range tableOne(e) {
		r.progress("overhead of %s", w.name)
		o, err := w.measure(ctx, e, wasm)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		o.report(r, w.name)
		all = append(all, o)
	}
	reportMeans(r, all)
	return nil
}

// overheads are the results of one workload, for each way.
type overheads struct {
	times  []float64 // ms of processor time
	ratios []float64 // to the baseline of the same engine
}

// measure runs the workload in every way, in turn. A ratio is the median of the ratios of rounds:
// what disturbs a round disturbs both of its sides. Each round has instances of its own, because
// the time of some workloads depends on which pages of the machine's memory an instance gets. What
// is measured is the process's processor time, because on a shared machine other processes decide
// how long it takes. They also use its memory's bandwidth, so that the same 30 ms may take 50; of
// what is repeated in a round, the shortest time counts.
func (w workload) measure(ctx context.Context, e guestEffort, wasm []byte) (o overheads, err error) {
	var times, ratios [][]float64
	var want uint64
	for round := range e.rounds {
		took, got, err := w.round(ctx, e, wasm, round%seldom == 0)
		if err != nil {
			return o, err
		}
		if times == nil {
			times, ratios, want = make([][]float64, len(took)), make([][]float64, len(took)), got
		}
		if got != want {
			return o, fmt.Errorf("the result is %#x, and was %#x", got, want)
		}
		for i, t := range took {
			if t > 0 {
				times[i] = append(times[i], t)
				ratios[i] = append(ratios[i], t/took[baselineOf(i)])
			}
		}
	}
	for i := range times {
		o.times = append(o.times, median(times[i]))
		o.ratios = append(o.ratios, median(ratios[i]))
	}
	return o, nil
}

func baselineOf(way int) int {
	if way >= wasmtimeWay {
		return wasmtimeWay
	}
	return plainWay
}

// ratio returns the ratio of a way, or 0 if it was not measured.
func (o overheads) ratio(way int) float64 {
	if way >= len(o.ratios) {
		return 0
	}
	return o.ratios[way]
}

// mechanismRows are the metrics of the table, with their ways and claims. The paper's figures are
// the figures of its Table I for the same workloads.
var mechanismRows = []struct {
	name       string
	way, other int
	each, mean float64
	paper      map[string]float64
}{
	{"epoch", epochWay, wasmtimeEpochWay, 1.10, 1.05, map[string]float64{"fib": 1, "dot": 1.49, "matmul": 1.51}},
	{"fuel", fuelWay, wasmtimeFuelWay, 1.25, 1.15, map[string]float64{"fib": 1.19, "dot": 1.48, "matmul": 1.25}},
}

// report adds the results of a workload: both mechanisms are to cost little, less than wasmtime's,
// and less than in the paper.
func (o overheads) report(r *report, name string) {
	const ms = "ms"
	for _, m := range mechanismRows {
		r.add(result{Name: name, Metric: m.name + "_overhead", Value: o.ratios[m.way], Unit: "x", Peer: "wasmtime", PeerValue: o.ratio(m.other)},
			beats(m.each, o.ratio(m.other)))
		if paper := m.paper[name]; paper != 0 {
			r.add(result{Name: name, Metric: m.name + "_overhead", Value: o.ratios[m.way], Unit: "x", Peer: "the paper", PeerValue: paper}, claim{atMost: 1})
		}
		r.add(result{Name: name, Metric: m.name + "_time", Value: o.times[m.way], Unit: ms, Peer: "wazero", PeerValue: o.times[plainWay]}, claim{})
	}
	r.add(result{Name: name, Metric: "interruption_overhead", Value: o.ratios[interruptibleWay], Unit: "x"}, claim{})
	if len(o.times) > wasmtimeWay {
		r.add(result{Name: name, Metric: "baseline_time", Value: o.times[plainWay], Unit: ms, Peer: "wasmtime", PeerValue: o.times[wasmtimeWay]}, claim{})
	}
}

// beats claims a bound of a value and, if there is a peer, that the value is less than the peer's.
func beats(bound, peer float64) claim {
	c := upTo(bound)
	if peer != 0 {
		c.atMost = 1
	}
	return c
}

// reportMeans adds the geometric means of all workloads. A ratio below 1 counts as 1: it shows
// where the engine has placed its code, not what a mechanism costs.
func reportMeans(r *report, all []overheads) {
	mean := func(way int) float64 {
		logs := 0.0
		for _, o := range all {
			if o.ratio(way) == 0 {
				return 0
			}
			logs += math.Log(max(o.ratio(way), 1))
		}
		return math.Exp(logs / float64(len(all)))
	}
	for _, m := range mechanismRows {
		r.add(result{Name: "mean", Metric: m.name + "_overhead", Value: mean(m.way), Unit: "x", Peer: "wasmtime", PeerValue: mean(m.other)},
			beats(m.mean, mean(m.other)))
	}
}

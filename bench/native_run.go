package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// timed is the time of one operation of a benchmark.
type timed struct {
	name string // without "Benchmark"
	ns   float64
}

// list returns the names of the benchmark functions.
func (b built) list(ctx context.Context) (names []string, err error) {
	out, err := output(ctx, b.folder, b.layouts[0].plain, "-test.list=^Benchmark")
	for name := range bytes.FieldsSeq(out) {
		names = append(names, string(name))
	}
	return names, err
}

// compare runs a function's benchmarks in each layout, of both builds in turn. The time of a
// benchmark is the mean over the layouts, of the fastest run in each.
func (b built) compare(ctx context.Context, e nativeEffort, name string) (all []pair, err error) {
	var order []string
	times := [2]map[string][]float64{{}, {}}
	for _, l := range b.layouts {
		for i, program := range []string{l.plain, l.polls} {
			got, err := b.run(ctx, program, name, e.span)
			if err != nil {
				return nil, err
			}
			for _, t := range fastest(got) {
				if i == 0 && len(times[0][t.name]) == 0 {
					order = append(order, t.name)
				}
				times[i][t.name] = append(times[i][t.name], t.ns)
			}
		}
		if len(times[0])+len(times[1]) == 0 {
			return nil, nil // all are skipped
		}
	}
	for _, name := range order {
		plainly, polls := times[0][name], times[1][name]
		if len(plainly) != len(polls) {
			return nil, fmt.Errorf("%s ran %d times plain, and %d times with polls", name, len(plainly), len(polls))
		}
		all = append(all, pair{name, mean(polls), mean(plainly)})
	}
	return all, nil
}

// fastest returns the fastest run of each benchmark.
func fastest(all []timed) (best []timed) {
	for _, t := range all {
		i := slices.IndexFunc(best, func(b timed) bool { return b.name == t.name })
		if i < 0 {
			best = append(best, t)
		} else {
			best[i].ns = min(best[i].ns, t.ns)
		}
	}
	return best
}

func mean(all []float64) (m float64) {
	for _, v := range all {
		m += v / float64(len(all))
	}
	return m
}

// often is how often a run measures each benchmark.
const often = 5

// run runs a function's benchmarks on one P, with garbage collections as rare as a small amount of
// memory allows: the collector has no polls, and runs at random times. But the first use of memory
// costs more than everything else, and also at random.
func (b built) run(ctx context.Context, program, name string, span time.Duration) ([]timed, error) {
	args := []string{"-test.run=^$", "-test.bench=^" + name + "$", "-test.cpu=1", "-test.benchtime=" + span.String(), "-test.count=" + strconv.Itoa(often)}
	if b.skip != "" {
		args = append(args, "-test.skip="+b.skip)
	}
	out, err := outputWith(ctx, []string{"GOGC=off", "GOMEMLIMIT=32MiB"}, b.folder, program, args...)
	if err != nil {
		return nil, err
	}
	return parseBenchmarks(out)
}

// parseBenchmarks finds the lines of results: a name, the number of operations, and the time of one
// operation.
func parseBenchmarks(out []byte) (all []timed, err error) {
	for line := range bytes.Lines(out) {
		words := bytes.Fields(line)
		if len(words) < 4 || !bytes.HasPrefix(words[0], []byte("Benchmark")) || string(words[3]) != "ns/op" {
			continue
		}
		ns, err := strconv.ParseFloat(string(words[2]), 64)
		if err != nil || !(ns > 0) {
			return nil, fmt.Errorf("%s takes %s ns; want a positive time", words[0], words[2])
		}
		all = append(all, timed{string(words[0][len("Benchmark"):]), ns})
	}
	return all, nil
}

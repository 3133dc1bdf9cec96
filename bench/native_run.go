package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"
)

// timed is what one operation of a benchmark takes.
type timed struct {
	name string // without "Benchmark"
	ns   float64
}

// runBenchmarks runs the benchmarks of a test program, on one P, so that there is no other for what the benchmarks do not
// wait for, such as the collector.
func runBenchmarks(ctx context.Context, program, folder string, s suite, span time.Duration) ([]timed, error) {
	args := []string{"-test.run=^$", "-test.bench=.", "-test.cpu=1", "-test.benchtime=" + span.String()}
	if s.skip != "" {
		args = append(args, "-test.skip="+s.skip)
	}
	out, err := output(ctx, folder, program, args...)
	if err != nil {
		return nil, err
	}
	return parseBenchmarks(out)
}

// parseBenchmarks finds the lines of results: a name, the number of operations, and the time of one.
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

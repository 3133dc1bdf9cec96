package main

import (
	"context"
	"fmt"
	"math"
	"time"
)

// nativeEffort is how much native measures.
type nativeEffort struct {
	layouts int           // of the functions in a program
	span    time.Duration // of a measurement, of which a layout has five
}

// native measures the cost of the polls that cocoon build inserts: it runs benchmarks as built by
// the go command, and as built by cocoon, in turn.
func native(ctx context.Context, r *report) error {
	return nativeWith(ctx, r, nativeEffort{layouts: 8, span: 2 * time.Millisecond}, programs, packages)
}

// nativeWith measures the benchmarks of the first suite one by one, and the benchmarks of each
// other suite together.
func nativeWith(ctx context.Context, r *report, e nativeEffort, programs suite, packages []suite) error {
	w, err := openWorkshop(r)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.buildCocoon(ctx); err != nil {
		return err
	}
	all, err := w.compare(ctx, e, programs)
	if err != nil {
		return err
	}
	for _, p := range all {
		p.name = programNames[p.name]
		r.add(p.result("ns"), claim{atMost: 1.02})
	}
	var means []pair
	for _, s := range packages {
		all, err := w.compare(ctx, e, s)
		if err != nil {
			return err
		}
		mean, worst := geometricMean(s.name, all), worstOf(all)
		means = append(means, mean)
		r.add(mean.result("ns"), claim{})
		benchmark := worst.name
		worst.name = s.name + " worst"
		r.add(worst.result(benchmark+"_ns"), claim{atMost: 1.3})
	}
	if len(means) == 0 {
		return nil
	}
	r.add(geometricMean("packages", means).result("ns"), claim{atMost: 1.03})
	worst := worstOf(means)
	name := worst.name
	worst.name = "packages worst"
	r.add(worst.result(name+"_ns"), claim{atMost: 1.15})
	return nil
}

// pair is the time of an operation in both builds, in nanoseconds.
type pair struct {
	name           string
	polls, plainly float64
}

func (p pair) ratio() float64 { return p.polls / p.plainly }

func (p pair) result(metric string) result {
	return result{Name: p.name, Metric: metric, Value: p.polls, Unit: "ns", Peer: "go build", PeerValue: p.plainly}
}

// geometricMean returns the pair of the geometric means, so that its ratio is the geometric mean of
// the ratios: each benchmark counts the same, however long it takes.
func geometricMean(name string, all []pair) pair {
	var polls, plainly float64
	for _, p := range all {
		polls += math.Log(p.polls)
		plainly += math.Log(p.plainly)
	}
	n := float64(len(all))
	return pair{name, math.Exp(polls / n), math.Exp(plainly / n)}
}

func worstOf(all []pair) (worst pair) {
	for i, p := range all {
		if i == 0 || p.ratio() > worst.ratio() {
			worst = p
		}
	}
	return worst
}

// compare runs each benchmark of both builds in turn, so that a disturbance of a second affects
// both, and pairs their times.
func (w *workshop) compare(ctx context.Context, e nativeEffort, s suite) (all []pair, err error) {
	b, err := w.build(ctx, s, e.layouts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	names, err := b.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	for i, name := range names {
		w.report.progress("%s: %s, %d of %d", s.name, name, i+1, len(names))
		got, err := b.compare(ctx, e, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", s.name, name, err)
		}
		all = append(all, got...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: there are no benchmarks", s.name)
	}
	return all, nil
}

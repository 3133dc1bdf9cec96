package main

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// How often rebuild builds a program: with empty caches, and with nothing to do.
const (
	coldBuilds = 3
	rebuilds   = 15
)

// rebuild measures what cocoon build adds to go build: for a large program with empty caches, and
// for it and a small program with nothing changed.
func rebuild(ctx context.Context, r *report) error {
	w, err := openWorkshop(r)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.buildCocoon(ctx); err != nil {
		return err
	}
	small := buildCase{name: "cocoon build", folder: "../examples", pkg: "./redos"}
	// This program itself: with gRPC, gin, drivers of databases and Cocoon it has some 500
	// packages.
	large := buildCase{name: "cocoon build, large", folder: ".", pkg: "."}
	if err := w.again(ctx, small, [2][]string{}, claim{atMost: 1.3}); err != nil {
		return err
	}
	caches, err := w.cold(ctx, large, claim{atMost: 1.15})
	if err != nil {
		return err
	}
	return w.again(ctx, large, caches, claim{atMost: 1.05})
}

// buildCase is a program to build.
type buildCase struct{ name, folder, pkg string }

// buildTimes are the times of some builds of a program by one command, in ms. Processor time is the
// time of all processes of the build, and depends less on what else the machine does.
type buildTimes struct{ wall, processor []float64 }

// timeBuild builds a program once, by go or by cocoon.
func (w *workshop) timeBuild(ctx context.Context, c buildCase, env []string, byCocoon bool, took *buildTimes) error {
	command, out := "go", "plain"
	if byCocoon {
		command, out = w.cocoon, "polls"
	}
	begin := time.Now()
	_, ended, err := runWith(ctx, env, c.folder, command, "build", "-o", filepath.Join(w.folder, out), c.pkg)
	if err != nil {
		return err
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	took.wall = append(took.wall, ms(time.Since(begin)))
	took.processor = append(took.processor, ms(ended.UserTime()+ended.SystemTime()))
	return nil
}

// addBuilds adds the results for a program that was built by go and by cocoon.
func (r *report) addBuilds(c buildCase, metric string, took [2]buildTimes, bound claim) {
	for _, of := range []struct {
		metric      string
		plain, with []float64
	}{
		{metric, took[0].wall, took[1].wall},
		{metric + ", processor", took[0].processor, took[1].processor},
	} {
		r.add(result{Name: c.name, Metric: of.metric, Value: median(of.with), Unit: "ms", Peer: "go build", PeerValue: median(of.plain)}, bound)
	}
}

// cold builds a program with empty caches, by both commands in turn, and returns the environment
// with the caches that the last builds have filled.
func (w *workshop) cold(ctx context.Context, c buildCase, bound claim) (caches [2][]string, err error) {
	var took [2]buildTimes
	for i := range coldBuilds {
		for j := range took {
			w.report.progress("%s: cold, %d of %d", c.name, 2*i+j+1, 2*coldBuilds)
			folder := filepath.Join(w.folder, []string{"cold-plain", "cold-polls"}[j])
			if err := os.RemoveAll(folder); err != nil {
				return caches, err
			}
			// Cocoon remembers its findings in the user's cache.
			caches[j] = []string{"GOCACHE=" + filepath.Join(folder, "go"), "XDG_CACHE_HOME=" + folder}
			if err := w.timeBuild(ctx, c, caches[j], j == 1, &took[j]); err != nil {
				return caches, err
			}
		}
	}
	w.report.addBuilds(c, "cold", took, bound)
	return caches, nil
}

// again builds a program with nothing changed.
func (w *workshop) again(ctx context.Context, c buildCase, caches [2][]string, bound claim) error {
	var took [2]buildTimes
	w.report.progress("%s: again", c.name)
	// The first build may compile, and the second may be the first to remember its findings.
	for i := range 2 + rebuilds {
		if i == 2 {
			took = [2]buildTimes{}
		}
		for j := range took {
			if err := w.timeBuild(ctx, c, caches[j], j == 1, &took[j]); err != nil {
				return err
			}
		}
	}
	w.report.addBuilds(c, "again", took, bound)
	return nil
}

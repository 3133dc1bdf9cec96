package main

import (
	"context"
	"path/filepath"
	"time"
)

// rebuilds is how often a build with nothing to do is repeated.
const rebuilds = 15

// rebuild measures what cocoon build adds to go build in a second, unchanged build of the example
// redos.
func rebuild(ctx context.Context, r *report) error {
	w, err := openWorkshop(r)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.buildCocoon(ctx); err != nil {
		return err
	}
	var took [2][]float64
	// The first build compiles, and the second may be the first to remember its findings.
	for i := range 2 + rebuilds {
		for j, command := range []string{"go", w.cocoon} {
			begin := time.Now()
			out := filepath.Join(w.folder, []string{"plain", "polls"}[j])
			if _, err := output(ctx, "..", command, "build", "-o", out, "./examples/redos"); err != nil {
				return err
			}
			if i >= 2 {
				took[j] = append(took[j], float64(time.Since(begin).Microseconds())/1000)
			}
		}
	}
	r.add(result{Name: "cocoon build", Metric: "again", Value: median(took[1]), Unit: "ms", Peer: "go build", PeerValue: median(took[0])}, claim{atMost: 1.3})
	return nil
}

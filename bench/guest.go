package main

import (
	"context"
	"fmt"
	"time"
)

// guestEffort is how much section guest measures.
type guestEffort struct {
	effort
	runs     int // of a workload in each way and round; more, until the baseline has taken span
	vector   int // values of each vector of the dot product
	requests int // to suspend a guest, in each series
	series   int // of requests, for each workload
	crowd    int // suspended guests
}

// guestSection measures WebAssembly guests of package guest, and the same guests on plain wazero
// and on wasmtime.
func guestSection(ctx context.Context, r *report) error {
	return guestWith(ctx, r, guestEffort{
		effort: effort{rounds: 11, span: 100 * time.Millisecond},
		runs:   3,
		vector: 4096 * 4096, requests: 500, series: 5, crowd: 10_000,
	})
}

func guestWith(ctx context.Context, r *report, e guestEffort) error {
	for _, m := range []struct {
		name    string
		measure func(context.Context, *report, guestEffort) error
	}{
		{"overhead", guestOverhead}, {"coremark", guestCoreMark}, {"call", guestCall}, {"switch", guestSwitch},
		{"crowd", guestCrowd}, {"stop", guestStop}, {"world", guestWorld}, {"rewrite", guestRewrite},
	} {
		r.progress("%s", m.name)
		if err := m.measure(ctx, r, e); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

package main

import (
	"bytes"
	"maps"
	"testing"
	"time"
)

// TestFairAndQuantum checks that the sections about orders and turns report what they claim,
// without checking the figures.
func TestFairAndQuantum(t *testing.T) {
	var out bytes.Buffer
	r := &report{stdout: &out, stderr: &out, cores: 1}
	if err := fairWith(t.Context(), r, effort{rounds: 1, span: 200 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if err := quantumWith(t.Context(), r, effort{rounds: 1, span: time.Second}); err != nil {
		t.Fatal(err)
	}
	rows, bounds := map[string]float64{}, map[string]string{}
	for _, row := range r.rows {
		rows[row.Name+" "+row.Metric] = row.Value
		if row.bound != "" {
			bounds[row.Name+" "+row.Metric] = row.bound
		}
	}
	if want := map[string]string{"shares off": "<= 5 %", "adaptive short_p99": "<= 1.5x", "adaptive long_work": ">= 0.95x"}; !maps.Equal(bounds, want) {
		t.Errorf("claimed are %v; want %v", bounds, want)
	}
	for _, want := range []string{"gold slot_time", "free slot_time", "adaptive short_p99", "adaptive long_work", "none long_work", "1ms short_p50"} {
		if rows[want] <= 0 {
			t.Errorf("%s is %v, of %v", want, rows[want], rows)
		}
	}
}

package main

import (
	"bytes"
	"testing"
	"time"
)

// The sections about orders and turns report what they claim; the figures are nobody's concern here.
func TestFairAndQuantum(t *testing.T) {
	var out bytes.Buffer
	r := &report{stdout: &out, stderr: &out, cores: 1}
	if err := fairWith(t.Context(), r, effort{rounds: 1, span: 200 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if err := quantumWith(t.Context(), r, effort{rounds: 1, span: time.Second}); err != nil {
		t.Fatal(err)
	}
	rows := map[string]float64{}
	for _, row := range r.rows {
		rows[row.Name+" "+row.Metric] = row.Value
	}
	for _, want := range []string{"gold slot_time", "free slot_time", "adaptive short_p99", "adaptive long_work", "none long_work", "1ms short_p50"} {
		if rows[want] <= 0 {
			t.Errorf("%s is %v, of %v", want, rows[want], rows)
		}
	}
}

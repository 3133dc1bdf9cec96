package main

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// TestScale runs the section with little effort: it checks which lines there are, not their
// figures.
func TestScale(t *testing.T) {
	var stdout, stderr bytes.Buffer
	r := &report{stdout: &stdout, stderr: &stderr, cores: 4}
	if err := scaleWith(t.Context(), r, effort{rounds: 1, span: 2 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if len(r.rows) != 18 {
		t.Errorf("%d lines, want those of 1, 2 and 4 cores: %+v", len(r.rows), r.rows)
	}
	for _, x := range r.rows {
		if x.Value <= 0 || (x.Metric == "cores_1") == (x.Ratio > 0) || (x.bound == ">= 0.8x") != (slices.Contains([]string{"run", "run_gogc_1000", "run_shedding"}, x.Name) && x.Metric != "cores_1") {
			t.Errorf("%+v", x)
		}
	}
}

package main

import (
	"bytes"
	"testing"
	"time"
)

// TestPause checks that the section reports what it claims, and fails if a stall was not reported
// or no gap was found.
func TestPause(t *testing.T) {
	var out bytes.Buffer
	r := &report{stdout: &out, stderr: &out}
	if err := pauseWith(t.Context(), r, effort{rounds: 1, span: 2 * time.Second}, 100); err != nil {
		t.Fatal(err)
	}
	claimed := map[string]bool{}
	for _, row := range r.rows {
		claimed[row.Name+" "+row.Metric] = row.bound != "" && row.Value > 0
	}
	if len(claimed) != 4 || !claimed["stall_report worst_pause"] || !claimed["gap_probe longest_stopping"] {
		t.Errorf("%+v", r.rows)
	}
}

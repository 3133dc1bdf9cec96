package main

import (
	"bytes"
	"testing"
	"time"
)

// TestSQL runs the section with little effort: it checks which lines there are, and that the books
// balance.
func TestSQL(t *testing.T) {
	if testing.Short() {
		t.Skip("a server of PostgreSQL takes seconds")
	}
	var stdout, stderr bytes.Buffer
	r := &report{stdout: &stdout, stderr: &stderr}
	if err := sqlWith(t.Context(), r, effort{rounds: 1, span: 200 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if len(r.rows) == 0 {
		t.Skip(&stderr)
	}
	for _, x := range r.rows {
		if x.Metric == "throughput" && (x.Value <= 0 || x.PeerValue <= 0) {
			t.Errorf("%+v", x)
		}
	}
	if len(r.rows) != 7 {
		t.Errorf("%d lines", len(r.rows))
	}
}

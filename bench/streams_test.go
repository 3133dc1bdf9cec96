package main

import (
	"bytes"
	"testing"
	"time"
)

// TestStreams runs the section with little effort: it checks which lines there are, not their
// figures.
func TestStreams(t *testing.T) {
	var stdout, stderr bytes.Buffer
	r := &report{stdout: &stdout, stderr: &stderr}
	if err := streamsWith(t.Context(), r, effort{rounds: 1, span: 5 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, x := range r.rows {
		seen[x.Name+" "+x.Metric] = x.Value > 0 && x.PeerValue > 0
	}
	for _, want := range []string{"ping-pong, 1 tasks server_cpu", "upload, 8 tasks, policies server_cpu", "feed, 64 tasks messages"} {
		if !seen[want] {
			t.Errorf("%s: not measured, of %v", want, seen)
		}
	}
}

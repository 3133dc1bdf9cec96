package main

import (
	"bytes"
	"maps"
	"testing"
)

// TestMemory runs the section with little effort: it checks which lines there are, not their
// figures.
func TestMemory(t *testing.T) {
	var stdout, stderr bytes.Buffer
	r := &report{stdout: &stdout, stderr: &stderr}
	if err := memoryWith(t.Context(), r, memoryEffort{rounds: 1, blocked: 1000, queued: 1000, back: 100, streams: 10, links: 2000}); err != nil {
		t.Fatal(err)
	}
	bounds := map[string]string{}
	for _, x := range r.rows {
		if x.bound != "" {
			bounds[x.Name+" "+x.Metric] = x.bound
		}
		// The heap of so few streams and links is less than what the collector frees of the rest.
		if x.Metric != "heap" && (x.Value <= 0 || x.Peer != "" && x.PeerValue <= 0) {
			t.Errorf("%+v", x)
		}
	}
	want := map[string]string{
		"blocked bytes": "<= 1.5x", "blocked bytes_more": "<= 1024 B", "blocked time": "<= 2x",
		"queued bytes": "<= 1.5x", "queued bytes_more": "<= 1024 B", "queued time": "<= 2x",
		"returning down": "<= 2x + 500 ms",
		"retained heap":  "<= 1x + 1024 KiB", "chain link": "<= 1.5x", "chain heap": "<= 1x + 1024 KiB",
	}
	if !maps.Equal(bounds, want) {
		t.Errorf("claimed are %v; want %v", bounds, want)
	}
}

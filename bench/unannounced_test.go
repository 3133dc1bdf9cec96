package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestUnannounced runs the section with little effort: it checks which lines there are, not their
// figures. In so short a time a server with Cocoon may do nothing; the plain server may not.
func TestUnannounced(t *testing.T) {
	if testing.Short() {
		t.Skip("27 servers, most of which answer late, take seconds")
	}
	var stdout, stderr bytes.Buffer
	r := &report{stdout: &stdout, stderr: &stderr, section: section{cores: 1}, cores: 1}
	few := slices.Clone(waitings)
	for i := range few {
		few[i].crowd = min(few[i].crowd, 8)
	}
	// The sleepers sleep 250 ms: in a shorter span none may end.
	if err := unannouncedWith(t.Context(), r, effort{rounds: 1, span: 400 * time.Millisecond}, few); err != nil {
		t.Fatal(err)
	}
	bounds := map[string]string{}
	for _, x := range r.rows {
		bounds[x.Name+" "+x.Metric] += x.bound
		if x.PeerValue <= 0 || x.Metric != "throughput" && x.Value <= 0 {
			t.Errorf("%+v", x)
		}
	}
	for _, w := range waitings {
		for metric, want := range map[string]string{"throughput": ">= 0.9x", "short_p99": "<= 1.5x + 1000 µs", "server_cpu": "<= 1.1x", "server_switches": ""} {
			if got, ok := bounds[w.name+" "+metric]; !ok || got != want {
				t.Errorf("%s %s: %t, bound %q; want %q", w.name, metric, ok, got, want)
			}
		}
	}
}

// TestUnannouncedFails checks that a wrong response ends the section.
func TestUnannouncedFails(t *testing.T) {
	var out bytes.Buffer
	r := &report{stdout: &out, stderr: &out, section: section{cores: 1}, cores: 1}
	sockets := []waiting{{"websocket", "", 1, watchEvents}}
	err := unannouncedWith(t.Context(), r, effort{rounds: 1, span: 200 * time.Millisecond}, sockets)
	if err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("error %v; want that of a stream that ended", err)
	}
}

package main

import (
	"bytes"
	"maps"
	"testing"
	"time"
)

// TestGRPC runs the section with little effort: it checks which lines there are, not their figures.
func TestGRPC(t *testing.T) {
	var stdout, stderr bytes.Buffer
	r := &report{stdout: &stdout, stderr: &stderr}
	e := effort{rounds: 1, span: 50 * time.Millisecond}
	if err := grpcWith(t.Context(), r, e); err != nil {
		t.Fatal(err)
	}
	if err := interceptors(t.Context(), r, e); err != nil {
		t.Fatal(err)
	}
	if err := balance(t.Context(), r, e); err != nil {
		t.Fatal(err)
	}
	seen, bounds := map[string]bool{}, map[string]string{}
	for _, x := range r.rows {
		if x.bound != "" {
			bounds[x.Name+" "+x.Metric] = x.bound
		}
		// All callers may leave a busy server.
		seen[x.Name+" "+x.Metric] = x.Value >= 0 && x.PeerValue > 0
	}
	for _, want := range []string{
		"tasks calls", "tasks call_server_cpu", "tasks call_server_switches", "tasks messages", "tasks and reports calls", "tasks and reports message_client_cpu",
		"interceptor call", "interceptor message", "busy server share", "busy server left_after", "busy server back_after",
	} {
		if !seen[want] {
			t.Errorf("%s: not measured, of %v", want, seen)
		}
	}
	want := map[string]string{"tasks calls": ">= 0.95x", "tasks and reports calls": ">= 0.9x", "tasks messages": ">= 0.9x",
		"tasks and reports messages": ">= 0.9x", "busy server share": "<= 0.3x"}
	if !maps.Equal(bounds, want) {
		t.Errorf("claimed are %v; want %v", bounds, want)
	}
}

package main

import (
	"bytes"
	"testing"
	"time"
)

// TestGRPC runs the section with little effort: which lines there are, not what they say.
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
	seen := map[string]bool{}
	for _, x := range r.rows {
		seen[x.Name+" "+x.Metric] = x.Value >= 0 && x.PeerValue > 0 // a busy server may be left altogether
	}
	for _, want := range []string{
		"tasks calls", "tasks call_server_cpu", "tasks messages", "tasks and reports calls", "tasks and reports message_client_cpu",
		"interceptor call", "interceptor message", "busy server share", "busy server left_after", "busy server back_after",
	} {
		if !seen[want] {
			t.Errorf("%s: not measured, of %v", want, seen)
		}
	}
}

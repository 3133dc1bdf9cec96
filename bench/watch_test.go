package main

import (
	"bytes"
	"testing"
	"time"
)

// TestWatch runs the section with little effort: it checks which lines there are, not their
// figures.
func TestWatch(t *testing.T) {
	var stdout, stderr bytes.Buffer
	r := &report{stdout: &stdout, stderr: &stderr, section: section{cores: everyCore}, cores: everyCore}
	e := effort{rounds: 1, span: 20 * time.Millisecond}
	if err := watchWith(t.Context(), r, e, e); err != nil {
		t.Fatal(err)
	}
	bounds := boundsOf(t, r)
	for line, want := range map[string]string{"run ns": "<= 1.05x", "storm refusal_ns": "", "hello throughput": ">= 0.99x", "hello server_cpu": "<= 1.01x",
		"hello scraped throughput": ">= 0.99x", "hello scraped server_cpu": "<= 1.01x",
		"run wired ns": "<= 1.05x", "hello wired throughput": ">= 0.99x", "hello wired server_cpu": "<= 1.01x",
		"run, document without canary ns": "<= 1.05x", "run, canary ns": "", "run, after a canary ns": "<= 1.05x"} {
		if got, ok := bounds[line]; !ok || got != want {
			t.Errorf("%s: %t, bound %q; want %q", line, ok, got, want)
		}
	}
}

package main

import (
	"bytes"
	"os"
	"testing"
	"time"
)

// TestRouter runs the section with little effort: it checks which lines there are, not their
// figures.
func TestRouter(t *testing.T) {
	var stdout, stderr bytes.Buffer
	r := &report{stdout: &stdout, stderr: &stderr, section: section{cores: 1}, cores: 1}
	little := effort{rounds: 1, span: 100 * time.Millisecond}
	if err := routerWith(t.Context(), r, little, little); err != nil {
		t.Fatal(err)
	}
	bounds := boundsOf(t, r)
	for _, router := range []string{"chi", "gin"} {
		for line, want := range map[string]string{
			", closed throughput": ">= 0.95x", ", closed server_cpu": "<= 1.08x", ", closed server_switches": "<= 1.1x + 0.05 switches", ", closed client_cpu": "",
			", open p50": "", ", open p99": "", ", open server_cpu": "<= 1.08x", ", open server_switches": "<= 1.1x", ", open client_cpu": "",
		} {
			if got, ok := bounds[router+line]; !ok || got != want {
				t.Errorf("%s%s: %t, bound %q; want %q", router, line, ok, got, want)
			}
		}
	}
}

// TestGuidePolicies checks that the policies are the guide's.
func TestGuidePolicies(t *testing.T) {
	text, err := os.ReadFile("../examples/quickstart/policies.yaml")
	if err != nil || string(text) != guidePolicies {
		t.Errorf("%v; the guide has\n%s\nand the servers\n%s", err, text, guidePolicies)
	}
}

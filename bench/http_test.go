package main

import (
	"bytes"
	"testing"
	"time"
)

// TestHTTP runs the section with little effort: which lines there are, not what they say.
func TestHTTP(t *testing.T) {
	var stdout, stderr bytes.Buffer
	r := &report{stdout: &stdout, stderr: &stderr}
	if err := httpWith(t.Context(), r, effort{rounds: 1, span: 20 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	bounds := map[string]string{}
	for _, x := range r.rows {
		bounds[x.Metric] = x.bound
		if x.Value <= 0 || x.PeerValue <= 0 {
			t.Errorf("%+v", x)
		}
	}
	for metric, want := range map[string]string{"throughput": ">= 0.95x", "server_cpu": "", "client_cpu": ""} {
		if got, ok := bounds[metric]; !ok || got != want {
			t.Errorf("%s: %t, bound %q; want %q", metric, ok, got, want)
		}
	}
}

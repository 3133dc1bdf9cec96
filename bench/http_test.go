package main

import (
	"bytes"
	"runtime"
	"testing"
	"time"
)

// TestHTTP runs the section with little effort, with servers that share the cores with their client
// and with servers that do not: it checks which lines there are, not their figures.
func TestHTTP(t *testing.T) {
	t.Run("shared", func(t *testing.T) { testHTTP(t, everyCore) })
	t.Run("apart", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("processes cannot be pinned on " + runtime.GOOS)
		}
		testHTTP(t, 1)
	})
}

func testHTTP(t *testing.T, cores int) {
	var stdout, stderr bytes.Buffer
	r := &report{stdout: &stdout, stderr: &stderr, section: section{cores: everyCore}, cores: cores}
	if err := httpWith(t.Context(), r, effort{rounds: 1, span: 20 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	bounds := boundsOf(t, r)
	for _, name := range []string{"hello", "hello, policies", "16 KB", "16 KB, policies"} {
		for metric, want := range map[string]string{"throughput": ">= 0.95x", "server_cpu": "", "server_switches": "", "client_cpu": ""} {
			if got, ok := bounds[name+" "+metric]; !ok || got != want {
				t.Errorf("%s %s: %t, bound %q; want %q", name, metric, ok, got, want)
			}
		}
	}
}

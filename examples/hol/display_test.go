package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// TestDisplay checks the table, and the warning about a generator that could not keep its own
// schedule, which affects what it measured.
func TestDisplay(t *testing.T) {
	const ms = time.Millisecond
	var stdout, stderr bytes.Buffer
	show := newDisplay(&stdout, &stderr, false)
	show.progress(modes[1], load{WarmUp: time.Second, Duration: time.Second}, progress{})
	punctual := outcome{Gets: loadtest.Latencies{Count: 7, P50: ms / 2, P99: 2 * ms, P99_9: 30 * ms}, Late: ms, Cores: 0.25}
	show.result(modes[0], punctual)
	if strings.Contains(stderr.String(), "schedule") {
		t.Errorf("of a punctual generator it says %q", &stderr)
	}
	late := punctual
	late.Scans, late.ScansIn, late.Late = loadtest.Latencies{Count: 3, P50: 40 * ms, P99: 70 * ms}, 2, 1500*time.Microsecond
	show.result(modes[3], late)
	if err := show.results.Finish(); err != nil {
		t.Fatal(err)
	}
	const table = `
    mode  get p50      p99     p99.9  gets  scans  scan p50       p99  server
    idle  0.50 ms  2.00 ms  30.00 ms     7      0         -         -    25 %
  cocoon  0.50 ms  2.00 ms  30.00 ms     7      2  40.00 ms  70.00 ms    25 %
`
	if got := "\n" + stdout.String(); got != table {
		t.Errorf("the table is%s\nwant%s", got, table)
	}
	for _, want := range []string{"plain: net/http alone\n", "cocoon: the generator did not keep its schedule", "more than 1.5ms late"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("standard error is %q; want one with %q", &stderr, want)
		}
	}
}

package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestTable checks that the table has each column of the comparison for each mode, and no first
// action for a server that seldom acted.
func TestTable(t *testing.T) {
	var stdout, stderr bytes.Buffer
	show := newDisplay(&stdout, &stderr, false)
	show.progress(modes[4], 1, 3, load{WarmUp: time.Second, Duration: time.Second}, progress{Elapsed: 1500 * time.Millisecond, Good: 7})
	show.result(modes[0], summary{Runs: 3, Goodput: 141.4, P99: lost, P99Answered: 90 * ms, Acted: 1, FirstAction: 2 * time.Second,
		Sent: 200, SentOf: [3]int{80, 90, 30}, GoodOf: [3]int{20, 9, 0}, Paid: tally{45, 9}, Free: tally{45, 0}})
	show.result(modes[4], summary{Runs: 3, Goodput: 290, P99: 14 * ms, P99Answered: 12 * ms, Acted: 3, FirstAction: 740 * time.Microsecond,
		Sent: 200, SentOf: [3]int{80, 90, 30}, GoodOf: [3]int{80, 63, 3}, Paid: tally{45, 45}, Free: tally{45, 18}, Refused: 50, Expired: 4})
	if err := show.results.Finish(); err != nil {
		t.Fatal(err)
	}
	const table = `
    mode  goodput  critical p99  of those answered  first action  good: critical  normal: paying  free  batch  refused  too late
   plain    141/s    1000.00 ms           90.00 ms          none            25 %            20 %   0 %    0 %      0 %       0 %
  cocoon    290/s      14.00 ms           12.00 ms       0.74 ms           100 %           100 %  40 %   10 %     25 %       2 %
`
	if got := "\n" + stdout.String(); got != table {
		t.Errorf("the table is%s\nwant%s", got, table)
	}
	if want := "round 1 of 3, cocoon: the policies of policies.yaml"; !strings.Contains(stderr.String(), want) {
		t.Errorf("standard error is %q; want one with %q", &stderr, want)
	}
}

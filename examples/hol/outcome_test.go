package main

import (
	"errors"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

func TestSummarize(t *testing.T) {
	const s = time.Second
	l := load{WarmUp: 1 * s, Duration: 2 * s}
	schedule := []request{
		{at: 0, kind: get},
		{at: 0, kind: scan},
		{at: 1 * s, kind: usageReading},
		{at: 1 * s, kind: get},
		{at: 2 * s, kind: scan},
		{at: 2 * s, kind: get},
		{at: 3 * s, kind: usageReading},
	}
	samples := []sample{
		{sent: 0, finished: 9 * s}, // a warm-up get does not count
		// Nor a warm-up scan's latency, but it ended within the measured time.
		{sent: 0, finished: 2 * s},
		{usage: usage{CPU: s, Clock: s}},   //
		{sent: 1*s + 5, finished: 1*s + 7}, // latency counts from the intended start
		// A scan that ends after the measured time does not count.
		{sent: 2 * s, finished: 4 * s},
		{err: errors.New("lost")}, //
		{usage: usage{CPU: 2 * s, Clock: 3 * s}},
	}
	want := outcome{
		Gets:    loadtest.Latencies{Count: 1, P50: 7, P99: 7, P99_9: 7, Max: 7},
		Scans:   loadtest.Latencies{Count: 1, P50: 2 * s, P99: 2 * s, P99_9: 2 * s, Max: 2 * s},
		ScansIn: 1, Late: 5, Cores: 0.5, Requests: 4, Errors: 1, FirstErr: "lost",
	}
	for i := range want.GetCurve {
		want.GetCurve[i] = want.Gets.P50 // the only get that counts
	}
	if got := summarize(l, schedule, samples); got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

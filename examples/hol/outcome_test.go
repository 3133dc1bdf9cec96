package main

import (
	"errors"
	"testing"
	"time"
)

func TestPercentile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for _, c := range []struct {
		sorted []time.Duration
		p      float64
		want   time.Duration
	}{
		{nil, 0.5, 0},
		{[]time.Duration{7}, 0, 7},
		{[]time.Duration{7}, 0.999, 7},
		{[]time.Duration{1, 2}, 0.5, 1},
		{[]time.Duration{1, 2, 3}, 0.5, 2},
		{hundred, 0.5, 50},
		{hundred, 0.99, 99},
		{hundred, 0.991, 100},
		{hundred, 1, 100},
	} {
		if got := percentile(c.sorted, c.p); got != c.want {
			t.Errorf("percentile(%d values, %g) = %d; want %d", len(c.sorted), c.p, got, c.want)
		}
	}
}

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
		{sent: 0, finished: 9 * s},         // a warm-up get does not count
		{sent: 0, finished: 2 * s},         // nor a warm-up scan's latency, but it was done in the measured time
		{usage: usage{CPU: s, Clock: s}},   //
		{sent: 1*s + 5, finished: 1*s + 7}, // latency counts from the intended start
		{sent: 2 * s, finished: 4 * s},     // a scan that ends behind the measured time was not done in it
		{err: errors.New("lost")},          //
		{usage: usage{CPU: 2 * s, Clock: 3 * s}},
	}
	want := outcome{
		Gets:    latencies{1, 7, 7, 7},
		Scans:   latencies{1, 2 * s, 2 * s, 2 * s},
		ScansIn: 1, Late: 5, Cores: 0.5, Errors: 1, FirstErr: "lost",
	}
	if got := summarize(l, schedule, samples); got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

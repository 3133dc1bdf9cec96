package loadtest

import (
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

func TestSumUp(t *testing.T) {
	if got, want := SumUp([]time.Duration{3, 1, 2}), (Latencies{3, 2, 3, 3, 3}); got != want {
		t.Errorf("got %+v; want %+v", got, want)
	}
	if got := SumUp(nil); got != (Latencies{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestMs(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "-", 1_234_000: "1.23 ms", time.Second: "1000.00 ms"} {
		if got := Ms(d); got != want {
			t.Errorf("Ms(%v) = %q; want %q", d, got, want)
		}
	}
}

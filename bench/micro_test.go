package main

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// TestMain lets the tests' program, too, run as a child: as the client of an echo, and as a server.
func TestMain(m *testing.M) {
	if !roles.Play("bench") {
		m.Run()
	}
}

// TestMicro runs the section with little effort: it checks which lines there are, not their
// figures.
func TestMicro(t *testing.T) {
	if testing.Short() {
		t.Skip("a ticker under load takes seconds to make a hundred ticks")
	}
	var stdout, stderr bytes.Buffer
	r := &report{stdout: &stdout, stderr: &stderr}
	if err := microWith(t.Context(), r, effort{rounds: 1, span: 3 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	lines := map[string]row{}
	for _, x := range r.rows {
		lines[x.Name+" "+x.Metric] = x
		if math.IsNaN(x.Value) || math.IsInf(x.Value, 0) || x.Peer != "" && x.PeerValue <= 0 && x.Unit != "allocs" {
			t.Errorf("%+v", x)
		}
	}
	for line, bound := range map[string]string{
		"run ns": "<= 250 ns", "run allocs": "<= 1 allocs", "run bytes": "<= 32 B",
		"poll above_ns": "<= 1 ns", "poll safepoint_above_ns": "<= 1.5 ns",
		"switch ns":     "<= 600 ns",
		"eval regex_ns": "<= 80 ns", "eval regex_allocs": "<= 0 allocs", "eval hol_ns": "<= 80 ns", "eval hol_allocs": "<= 0 allocs",
		"tick p50": "<= 0.05x", "tick p99": "<= 300 µs, <= 0.05x",
		"throw p99":  "<= 1000 µs",
		"locked p99": "<= 1x + 10000 µs", "locked stretches": "<= 1 stretches",
		"procs spare0_p99": "", "procs spare1_p99": "", "procs spare2_p99": "",
	} {
		if got, ok := lines[line]; !ok || got.bound != bound {
			t.Errorf("line %s: %t, bound %q; want %q", line, ok, got.bound, bound)
		}
	}
	place, _, err := loadtest.Place("auto")
	if got, ok := lines["share of_core"]; err == nil && ok != (len(place.Server) > 0) || ok && got.bound != ">= 0.85x" {
		t.Errorf("line share: %t, bound %q, with the placement %v", ok, got.bound, place)
	}
}

func TestMicroEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := microWith(ctx, &report{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}, effort{rounds: 5, span: time.Second})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v; want the context's", err)
	}
}

func TestQuantiles(t *testing.T) {
	values := make([]float64, 200)
	for i := range values {
		values[i] = float64(200 - i)
	}
	got, err := quantiles(values)
	if err != nil || !slices.Equal(got, figures{100, 198}) {
		t.Errorf("quantiles of 1 to 200: %v, %v; want 100 and 198", got, err)
	}
	if _, err := quantiles(values[:99]); err == nil {
		t.Error("99 values made a 99th percentile")
	}
}

func TestMedians(t *testing.T) {
	series := func(values ...float64) side {
		i := 0
		return func(context.Context, effort) (figures, error) {
			i++
			return figures{values[i-1], -values[i-1]}, nil
		}
	}
	got, err := medians(t.Context(), effort{rounds: 3}, series(1, 9, 2), series(30, 20, 10))
	if err != nil || !slices.Equal(got[0], figures{2, -2}) || !slices.Equal(got[1], figures{20, -20}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestPerOperationCountsAllocations(t *testing.T) {
	var keep []byte
	got := perOperation(5*time.Millisecond, func(n int) {
		for range n {
			keep = make([]byte, 1<<10)
		}
	})
	_ = keep
	if got[allocs] != 1 || got[bytes_] < 1<<10 || got[ns] <= 0 {
		t.Errorf("%v; want 1 allocation of 1024 bytes", got)
	}
}

package main

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseBenchmarks(t *testing.T) {
	for _, c := range []struct {
		name, out string
		want      []timed
		wrong     string
	}{
		{"nothing", "", nil, ""},
		{"results among other lines", "goos: linux\nBenchmarkA/16 \t  100\t  12.5 ns/op\t 3 MB/s\n--- BENCH: BenchmarkB\n    BenchmarkB: 1 2 3\nBenchmarkB \t 7\t 2 ns/op\nPASS\n",
			[]timed{{"A/16", 12.5}, {"B", 2}}, ""},
		{"another unit first", "BenchmarkA 100 3 MB/s\n", nil, ""},
		{"no number", "BenchmarkA 100 x ns/op\n", nil, "BenchmarkA takes x ns"},
		{"no time", "BenchmarkA 100 0 ns/op\n", nil, "want a positive time"},
		{"not a number", "BenchmarkA 100 NaN ns/op\n", nil, "want a positive time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseBenchmarks([]byte(c.out))
			if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Fatalf("error %v; want %q", err, c.wrong)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v; want %v", got, c.want)
			}
		})
	}
}

// TestFastest checks that the fastest run of each benchmark counts, in the mean over the layouts.
func TestFastest(t *testing.T) {
	got := fastest([]timed{{"a", 3}, {"b", 1}, {"a", 2}, {"b", 5}, {"a", 4}})
	if want := []timed{{"a", 2}, {"b", 1}}; !slices.Equal(got, want) {
		t.Errorf("%v; want %v", got, want)
	}
	if got := mean([]float64{1, 2, 6}); math.Abs(got-3) > 1e-9 {
		t.Errorf("mean %v; want 3", got)
	}
}

func TestPairs(t *testing.T) {
	all := []pair{{"a", 2, 1}, {"b", 4, 8}, {"c", 300, 100}}
	if got := geometricMean("all", all); math.Abs(got.ratio()-math.Cbrt(3)) > 1e-9 || got.name != "all" {
		t.Errorf("mean %v, ratio %v; want that of 2, 1/2 and 3", got, got.ratio())
	}
	if got := worstOf(all); got.name != "c" {
		t.Errorf("worst is %v", got)
	}
	if got := worstOf([]pair{{"a", 1, 2}}); got.name != "a" {
		t.Errorf("worst of one is %v", got)
	}
}

// TestNative checks that the programs are built both ways, and that the measurements are theirs.
func TestNative(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the cocoon command, and what it measures")
	}
	t.Setenv("TMPDIR", t.TempDir())
	r := &report{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
	sorting := suite{name: "sort", choice: "std", skip: "1e|Stable|Sort"}
	if err := nativeWith(t.Context(), r, nativeEffort{layouts: 2, span: time.Microsecond}, programs, []suite{sorting}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range r.rows {
		got = append(got, strings.TrimSpace(x.Name+" "+x.bound))
		if !(x.Value > 0) || !(x.PeerValue > 0) || math.IsInf(x.Ratio, 0) {
			t.Errorf("%+v", x)
		}
	}
	want := []string{"fib <= 1.02x", "dot <= 1.02x", "matmul <= 1.02x", "sort", "sort worst <= 1.3x", "packages <= 1.03x", "packages worst <= 1.15x"}
	if !slices.Equal(got, want) {
		t.Errorf("rows %q; want %q", got, want)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || slices.ContainsFunc(left, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "cocoon-bench-") }) {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestNativeEndsWithItsContext(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := nativeWith(ctx, &report{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}, nativeEffort{layouts: 1}, programs, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v; want the context's", err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestNativeWithoutBenchmarks(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the cocoon command, and what it measures")
	}
	r := &report{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
	err := nativeWith(t.Context(), r, nativeEffort{layouts: 1, span: time.Microsecond}, suite{name: "workloads", skip: "."}, nil)
	if err == nil || !strings.Contains(err.Error(), "workloads: there are no benchmarks") {
		t.Errorf("error %v; want that there are none", err)
	}
}

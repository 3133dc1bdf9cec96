package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
)

func TestMedian(t *testing.T) {
	for want, values := range map[float64][]float64{0: nil, 3: {9, 3, 1}, 2.5: {4, 1, 3, 2}, 7: {7}} {
		if got := median(values); got != want {
			t.Errorf("median(%v) = %v; want %v", values, got, want)
		}
	}
}

func withSections(t *testing.T, fake ...section) {
	old := sections
	t.Cleanup(func() { sections = old })
	sections = fake
}

func TestJSONHasEveryField(t *testing.T) {
	withSections(t, section{"one", "about one", 0, func(_ context.Context, r *report) error {
		r.add(result{Name: "us", Metric: "time", Value: 3, Unit: "ns", Peer: "them", PeerValue: 12}, claim{atMost: 0.25})
		return nil
	}})
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), []string{"-json"}, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"section": "one", "name": "us", "metric": "time", "value": 3.0, "unit": "ns",
		"peer": "them", "peer_value": 12.0, "ratio": 0.25}
	for field, value := range want {
		if got[field] != value {
			t.Errorf("%s is %v; want %v", field, got[field], value)
		}
	}
	if len(got) != len(want) {
		t.Errorf("the object has %d fields; want %d: %s", len(got), len(want), &stdout)
	}
	if !strings.Contains(stderr.String(), "one: about one") {
		t.Errorf("no progress on stderr: %s", &stderr)
	}
}

func TestBrokenClaimsAndFailures(t *testing.T) {
	lost := errors.New("lost")
	add := func(value, peer float64, c claim) func(context.Context, *report) error {
		return func(_ context.Context, r *report) error {
			r.add(result{Name: "us", Metric: "time", Value: value, Unit: "ns", Peer: "them", PeerValue: peer}, c)
			return nil
		}
	}
	for _, c := range []struct {
		name    string
		measure func(context.Context, *report) error
		want    string // in the error; "" for none
	}{
		{"kept", add(2, 1, claim{atLeast: 2, atMost: 2}), ""},
		{"unclaimed", add(9, 1, claim{}), ""},
		{"too much", add(2.5, 1, claim{atMost: 2}), "time of us is 2.5 ns, 2.5 times that of them; claimed is at most 2 times"},
		{"too little", add(1, 2, claim{atLeast: 1}), "claimed is at least 1 times"},
		{"no peer, least", add(1, 0, claim{atLeast: 1}), "claimed is at least 1 times"},
		{"no peer, most", add(1, 0, claim{atMost: 1}), "claimed is at most 1 times"},
		{"kept with more", add(12, 4, claim{atMost: 1.5, plus: 6}), ""},
		{"too much for more", add(12.5, 4, claim{atMost: 1.5, plus: 6}), "time of us is 12.5 ns, 3.12 times that of them; claimed is at most 1.5 times + 6 ns"},
		{"no peer, more", add(1, 0, claim{atMost: 1, plus: 6}), "claimed is at most 1 times + 6 ns"},
		{"value kept", add(2, 0, upTo(2)), ""},
		{"value broken", add(2.5, 0, upTo(2)), "time of us is 2.5 ns; claimed is at most 2 ns"},
		{"failed", func(context.Context, *report) error { return lost }, "section failed: lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			withSections(t, section{c.name, "", 0, c.measure})
			var stdout, stderr bytes.Buffer
			err := run(t.Context(), nil, &stdout, &stderr)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v; want %q", err, c.want)
			}
		})
	}
}

func TestCPUs(t *testing.T) {
	var measured []int
	measure := func(_ context.Context, r *report) error {
		measured = append(measured, r.cores)
		r.add(result{Name: "us", Metric: "time", Value: 1, Unit: "ns"}, claim{})
		return nil
	}
	withSections(t, section{"own", "", everyCore + 1, measure}, section{"fixed", "", 0, measure})
	for _, c := range []struct{ args, want, cores, table string }{
		{"", "", fmt.Sprint(everyCore+1, 0), "own  "},
		{"-cpus 1", "", "1 0", "own, cores: 1  "},
		{"-cpus 1 -run own", "", "1", "own, cores: 1  "},
		{"-cpus 1 -run fixed", "-cpus 1: the number of cores is fixed in the sections chosen; it is for own", "", ""},
		{"-cpus 9999", fmt.Sprintf("-cpus 9999: this machine has %d cores; want 1 to %d", everyCore, everyCore), "", ""},
		{"-cpus -1", "-cpus -1: this machine has", "", ""},
		{"-cpus two", "invalid value", "", ""},
	} {
		measured = nil
		var stdout, stderr bytes.Buffer
		err := run(t.Context(), strings.Fields(c.args), &stdout, &stderr)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v; want %q", c.args, err, c.want)
		}
		if got := strings.Trim(fmt.Sprint(measured), "[]"); got != c.cores || !strings.Contains(stdout.String(), c.table) {
			t.Errorf("%q: on %s cores; want %s; printed\n%s", c.args, got, c.cores, &stdout)
		}
	}
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), []string{"-cpus", "1", "-json"}, &stdout, &stderr); err != nil || strings.Count(stdout.String(), `"cores":1`) != 1 {
		t.Errorf("%v, %s", err, &stdout)
	}
}

func TestChoose(t *testing.T) {
	for pattern, want := range map[string]string{"h.l": "", "^x$": "no section matches", "(": "-run"} {
		_, err := choose(pattern)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("choose(%q): %v; want %q", pattern, err, want)
		}
	}
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, &stdout, &stderr); !errors.Is(err, flag.ErrHelp) ||
		!strings.Contains(stderr.String(), "hol") {
		t.Errorf("-h: %v, %s", err, &stderr)
	}
	if err := run(t.Context(), []string{"hol"}, &stdout, &stderr); err == nil {
		t.Error("an argument that is not a flag was ignored")
	}
}

// boundsOf returns the bounds of a report's rows, by their names. Each row must have a figure, and
// one of its peer.
func boundsOf(t *testing.T, r *report) map[string]string {
	t.Helper()
	bounds := map[string]string{}
	for _, x := range r.rows {
		bounds[x.Name+" "+x.Metric] = x.bound
		if x.Value <= 0 || x.PeerValue <= 0 {
			t.Errorf("%+v", x)
		}
	}
	return bounds
}

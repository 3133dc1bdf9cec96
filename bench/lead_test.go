package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// TestOverloadLeads checks that the section fails if Cocoon does not lead a column, whichever
// limiter does, or acts late.
func TestOverloadLeads(t *testing.T) {
	cost := loadtest.Cost{CPUus: 900, Switches: 3}
	figures := func() []overloadFigures {
		return []overloadFigures{
			{"plain", 100, 900_000, 40_000, cost}, {"semaphore", 150, 800_000, 30_000, cost}, {"failsafe", 190, 90_000, 9000, cost},
			{"gozero", 180, 20_000, 8000, cost}, {"cocoon", 200, 10_000, 1000, cost},
		}
	}
	for name, c := range map[string]struct {
		change func(all []overloadFigures)
		want   string // in the error; "" for none
	}{
		"leads":       {func([]overloadFigures) {}, ""},
		"goodput":     {func(all []overloadFigures) { all[2].Goodput = 201 }, "goodput of cocoon is 200 /s, 0.995 times that of failsafe; claimed is at least 1"},
		"latency":     {func(all []overloadFigures) { all[3].CriticalP99 = 9000 }, "critical_p99 of cocoon is 1e+04 µs, 1.11 times that of gozero; claimed is at most 1"},
		"action":      {func(all []overloadFigures) { all[0].FirstAction = 900 }, "first_action of cocoon is 1e+03 µs, 1.11 times that of plain; claimed is at most 1"},
		"late action": {func(all []overloadFigures) { all[4].FirstAction = 2001 }, "first_action of cocoon is 2e+03 µs; claimed is at most 2000 µs"},
	} {
		t.Run(name, func(t *testing.T) {
			all := figures()
			c.change(all)
			var out bytes.Buffer
			r := &report{stdout: &out, stderr: &out}
			if err := reportOverload(r, all); err != nil {
				t.Fatal(err)
			}
			err := r.finish()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v; want %q", err, c.want)
			}
			if len(r.rows) != 5*4+1 {
				t.Errorf("%d lines; want five for each peer, and the bound of the first action", len(r.rows))
			}
		})
	}
	for i := range figures() {
		r := &report{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
		if err := reportOverload(r, slices.Delete(figures(), i, i+1)); err == nil {
			t.Errorf("mode %s is missing, and nobody says so", figures()[i].Mode)
		}
	}
}

// TestHOLClaims checks that the section fails if gets wait for scans, if the plain server is no
// worse, or if scans or the processor pay for it.
func TestHOLClaims(t *testing.T) {
	kept := map[string]holFigures{
		"idle":   {Mode: "idle", GetP99: 1000, Cost: loadtest.Cost{CPUus: 50}},
		"plain":  {Mode: "plain", GetP99: 20_000, Scans: 100, Cost: loadtest.Cost{CPUus: 500}},
		"cocoon": {Mode: "cocoon", GetP99: 2000, Scans: 95, Cost: loadtest.Cost{CPUus: 540}},
		// It keeps the number of Ps.
		"keepprocs": {Mode: "keepprocs", GetP99: 20_000, Scans: 95},
	}
	for name, c := range map[string]struct {
		change func(cocoon *holFigures)
		want   string
	}{
		"kept":        {func(*holFigures) {}, ""},
		"slow gets":   {func(f *holFigures) { f.GetP99 = 2001 }, "get_p99 of cocoon is 2e+03 µs, 2 times that of idle; claimed is at most 2"},
		"no need":     {func(f *holFigures) { f.GetP99 = 2001 }, "get_p99 of plain is 2e+04 µs, 10 times that of cocoon; claimed is at least 10"},
		"fewer scans": {func(f *holFigures) { f.Scans = 94 }, "scans of cocoon is 94 scans, 0.94 times that of plain; claimed is at least 0.95"},
		"dear":        {func(f *holFigures) { f.CPUus = 541 }, "server_cpu of cocoon is 541 µs, 1.08 times that of plain; claimed is at most 1.08"},
	} {
		cocoon := kept["cocoon"]
		c.change(&cocoon)
		r := &report{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
		reportHOL(r, map[string][]holFigures{"idle": {kept["idle"]}, "plain": {kept["plain"]}, "cocoon": {cocoon}, "keepprocs": {kept["keepprocs"]}})
		if err := r.finish(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v; want %q", name, err, c.want)
		}
	}
}

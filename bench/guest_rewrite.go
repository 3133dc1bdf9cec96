package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"

	"github.com/cocoon-go/cocoon/guest/meter"
	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// rewriteTimes is how often a module is rewritten in a measurement.
const rewriteTimes = 9

// guestRewrite measures how many bytes of WebAssembly meter.Rewrite reads in a second of
// processor time. The module is a Go program: gofmt, which every installation of Go can build.
func guestRewrite(ctx context.Context, r *report, _ guestEffort) error {
	w, err := openWorkshop(r)
	if err != nil {
		return err
	}
	defer w.close()
	file := filepath.Join(w.folder, "gofmt.wasm")
	_, err = outputWith(ctx, []string{"GOOS=wasip1", "GOARCH=wasm"}, ".", "go", "build", "-o", file, "cmd/gofmt")
	if err != nil {
		return err
	}
	wasm, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for _, m := range mechanismRows {
		mechanism := meter.Epoch
		if m.way == fuelWay {
			mechanism = meter.Fuel
		}
		var rates, growth []float64
		for range rewriteTimes {
			runtime.GC() // of what was measured before, so that it does not happen meanwhile
			before := loadtest.CurrentUsage().CPU
			metered, err := meter.Rewrite(wasm, meter.Config{Mechanism: mechanism})
			if err != nil {
				return err
			}
			took := loadtest.CurrentUsage().CPU - before
			rates = append(rates, float64(len(wasm))/1e6/took.Seconds())
			growth = append(growth, float64(len(metered))/float64(len(wasm)))
		}
		r.add(result{Name: "rewriting", Metric: m.name + "_rate", Value: median(rates), Unit: "MB/s"}, claim{})
		r.add(result{Name: "rewriting", Metric: m.name + "_time", Value: 1e3 / median(rates), Unit: "ns/B"}, upTo(20))
		r.add(result{Name: "rewriting", Metric: m.name + "_size", Value: median(growth), Unit: "x"}, claim{})
	}
	return nil
}

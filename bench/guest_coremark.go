package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
)

// coreMarkFolder is where CoreMark's sources are, unless the environment variable COREMARK says so.
// They are not part of this repository.
const coreMarkFolder = "../shared/data/coremark"

// coreMarkRounds are iterations of CoreMark in a measurement, about 0.1 s.
const coreMarkRounds = 1000

// guestCoreMark measures CoreMark in a guest: its score metered, relative to its score unmetered.
func guestCoreMark(ctx context.Context, r *report, e guestEffort) error {
	sources := coreMarkFolder
	if named := os.Getenv("COREMARK"); named != "" {
		sources = named
	} else if _, err := os.Stat(sources); err != nil {
		r.progress("skipped: CoreMark's sources are not in %s; set COREMARK to the folder with them", sources)
		return nil
	}
	if _, err := exec.LookPath("clang"); err != nil {
		r.progress("skipped: %v", err)
		return nil
	}
	wasm, err := compileCoreMark(ctx, r, sources)
	if err != nil {
		return err
	}
	w := workload{name: "coremark", function: "coremark", args: []int32{coreMarkRounds}}
	o, err := w.measure(ctx, e, wasm)
	if err != nil {
		return err
	}
	o.report(r, w.name)
	for _, m := range mechanismRows {
		r.add(result{Name: w.name, Metric: m.name + "_score", Value: o.score(m.way), Unit: "1/s",
			Peer: "wazero", PeerValue: o.score(plainWay)}, claim{atLeast: 0.93})
	}
	r.add(result{Name: w.name, Metric: "interruption_score", Value: o.score(interruptibleWay), Unit: "1/s",
		Peer: "wazero", PeerValue: o.score(plainWay)}, claim{})
	return nil
}

// score returns CoreMark's iterations in a second of processor time. For the baseline it is the
// median's; for the other ways it is in the ratio of the rounds.
func (o overheads) score(way int) float64 {
	return coreMarkRounds / (o.times[plainWay] * o.ratios[way]) * 1e3
}

// compileCoreMark compiles CoreMark, as testdata/guest/README.md says.
func compileCoreMark(ctx context.Context, r *report, sources string) ([]byte, error) {
	w, err := openWorkshop(r)
	if err != nil {
		return nil, err
	}
	defer w.close()
	own := filepath.FromSlash("testdata/guest/coremark")
	out := filepath.Join(w.folder, "coremark.wasm")
	args := []string{"--target=wasm32", "-O2", "-mbulk-memory", "-nostdlib", "-Wl,--no-entry", "-Wl,--strip-all",
		"-Dmain=coremark_main", "-I" + own, "-I" + sources, "-o", out, filepath.Join(own, "core_portme.c")}
	for _, file := range []string{"core_list_join.c", "core_main.c", "core_matrix.c", "core_state.c", "core_util.c"} {
		args = append(args, filepath.Join(sources, file))
	}
	if _, err := output(ctx, ".", "clang", args...); err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}

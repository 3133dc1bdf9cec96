package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestAttacksAreStopped runs the example as its README says: cocoon build builds it, and the server
// stops all attacks. Half of them are at most a limit late. On a busy machine they may be later,
// because a limit counts running time; there the generator's requests are late, too. The figures of
// a quiet machine stand in docs/benchmarks.md.
func TestAttacksAreStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the example, and runs it for seconds")
	}
	redos := filepath.Join(t.TempDir(), "redos")
	if out, err := exec.CommandContext(t.Context(), "go", "run", "../../cmd/cocoon", "build", "-o", redos, ".").CombinedOutput(); err != nil {
		t.Fatalf("cocoon build: %v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), redos, "-modes", "cocoon", "-json", "-cases-file", writeCases(t, casesText(t)))
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var f figures
	if err := json.Unmarshal(out, &f); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if f.Attacks != len(builtIn) || f.Stopped != f.Attacks || f.WrongBenign != 0 {
		t.Errorf("%d of %d attacks were stopped, %d benign verdicts were wrong; want all and none", f.Stopped, f.Attacks, f.WrongBenign)
	}
	most := limit + 2*time.Duration(f.GeneratorLateP99us)*time.Microsecond
	if late := time.Duration(f.LatenessP50us) * time.Microsecond; late > most {
		t.Errorf("half of the matches were stopped %v late or later; want at most %v", late, most)
	}
}

// casesText returns the built-in cases as a file has them.
func casesText(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(builtIn)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

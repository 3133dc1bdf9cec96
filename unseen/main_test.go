package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/unseen/victim"
)

// TestTable checks that each library has one operation, and each operation one library.
func TestTable(t *testing.T) {
	var names, files []string
	for _, l := range libraries {
		names = append(names, l.name+".go")
		if _, version, ok := strings.Cut(l.module, "@v"); !ok || version == "" || l.kind == "" {
			t.Errorf("%+v; want a kind, and a module in a fixed version", l)
		}
	}
	found, err := filepath.Glob("testdata/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		files = append(files, filepath.Base(f))
	}
	slices.Sort(names)
	if !slices.Equal(names, files) {
		t.Errorf("libraries %q; operations %q", names, files)
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-only goja,nothing", "there is no library of this name"},
		{"-throws 0", "want at least one throw"},
		{"-processes 5 -throws 4", "want at least one throw"},
		{"goja", `an argument "goja"`},
	} {
		var stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(c.args), &stderr, &stderr); code != 2 || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s: exit code %d: %s; want %q", c.args, code, &stderr, c.want)
		}
	}
}

func TestChoose(t *testing.T) {
	all := []library{{name: "a", kind: "x"}, {name: "b", kind: "y"}, {name: "c", kind: "x"}}
	for only, want := range map[string]string{"": "abc", "x": "ac", "b": "b", "b,a": "ab"} {
		var names []string
		if only != "" {
			names = strings.Split(only, ",")
		}
		got, err := choose(all, names)
		var text string
		for _, l := range got {
			text += l.name
		}
		if err != nil || text != want {
			t.Errorf("-only %s: %s, %v; want %s", only, text, err, want)
		}
	}
}

func TestLost(t *testing.T) {
	before := outcomes([]byte("=== RUN x\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/one (0.00s)\n--- FAIL: TestB (0.00s)\nnoise--- PASS: TestN\n--- PASS: TestC (0.0s)\n--- PASS: TestD/a__b (0s)\n--- PASS: TestE/%!s(*int=0x12ab)/0x1 (0s)\n"))
	after := outcomes([]byte("--- PASS: TestE/%!s(*int=0x77)/0x1 (0s)\n--- PASS: TestD/a_b (0s)\n--- PASS: TestA (0.00s)\n    --- FAIL: TestA/one (0.00s)\n"))
	if got := lost(before, after); !slices.Equal(got, []string{"TestA/one", "TestC"}) {
		t.Errorf("lost %q", got)
	}
}

func TestRow(t *testing.T) {
	ms := time.Millisecond
	r := row{Name: "a", Tests: 3, Passed: 3}
	r.add(victim.Report{Stopped: []time.Duration{3 * ms, ms}, Goroutines: 4}, nil, victim.Report{Goroutines: 3})
	r.add(victim.Report{Stopped: []time.Duration{2 * ms}, Goroutines: 3}, nil, victim.Report{Goroutines: 3})
	if r.harmed() || r.Stopped != 3 || r.P50 != 2*ms || r.Max != 3*ms || r.state() != "unharmed" || r.kept() != "" {
		t.Errorf("%+v; want three stopped and no harm", r)
	}
	kept := r
	kept.add(victim.Report{Missed: []time.Duration{ms}}, nil, victim.Report{})
	if !kept.harmed() || !strings.Contains(kept.kept(), "unknown; up to 1ms late") {
		t.Errorf("kept by %q; want that it is unknown", kept.kept())
	}
	if kept.Means = "a lock"; kept.harmed() || kept.kept() != "a lock" {
		t.Errorf("kept by %q; want that it is meant", kept.kept())
	}
	for name, report := range map[string]victim.Report{"a goroutine": {Goroutines: 5}, "an answer": {Harm: []string{"x"}}} {
		harmed := r
		if harmed.add(report, nil, victim.Report{Goroutines: 3}); !harmed.harmed() || harmed.state() != "harmed" {
			t.Errorf("%s: %+v; want harm", name, harmed)
		}
	}
	crashed := r
	if crashed.add(victim.Report{}, errors.New("exit status 2"), victim.Report{}); !crashed.harmed() {
		t.Error("a process that crashed is no harm")
	}
	var out bytes.Buffer
	printTable(&out, []row{r})
	if text := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(text, "| a | 3 of 3 | 3 of 3 | 2.0 ms | 3.0 ms | 3.0 ms | unharmed | |") {
		t.Errorf("the table is\n%s", &out)
	}
	out.Reset()
	r.printJSON(&out)
	var back row
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back.Stopped != 3 || back.P99 != 3*ms {
		t.Errorf("as JSON: %v, %+v", err, back)
	}
}

func TestWithoutReport(t *testing.T) {
	if _, err := readReport(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v; want that there is none", err)
	}
}

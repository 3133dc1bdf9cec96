package main

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// TestMain uses the test's own binary as the command, so that no build is needed.
func TestMain(m *testing.M) {
	if os.Getenv("COCOONVET_TEST_IS_COMMAND") != "" {
		main()
		return
	}
	os.Exit(longtest.SmallHeap(m))
}

// command runs a command in the GOPATH of the checkers' tests.
func command(t *testing.T, name string, args ...string) (code int, out string) {
	t.Helper()
	gopath, err := filepath.Abs("../../analyzer/vet/testdata")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = filepath.Join(gopath, "src")
	cmd.Env = append(os.Environ(), "COCOONVET_TEST_IS_COMMAND=1", "GO111MODULE=off", "GOWORK=off", "GOPATH="+gopath)
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

func TestCommand(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  []string
		code  int
		want  []string
		brief bool // it is in the short form; each case looks at the standard library too
	}{
		{[]string{self, "plain"}, 0, nil, false},
		{[]string{self, "cocoonerr"}, 3, []string{"a.go:10:2: the error of Runtime.RegisterTimeLimit"}, false},
		{[]string{self, "-cocoonctx=false", "cocoonctx"}, 0, nil, false},
		{[]string{self, "policydocuments"}, 3, []string{"embedded.yaml:8:11: policy \"a\": there is no function swich", "file.yaml:2:1: "}, false},
		{[]string{"go", "vet", "-vettool=" + self, "policydocuments", "policytexts"}, 1, []string{"embedded.yaml:8:11: policy \"a\": there is no function swich", "1:1 of the text: there is no state stub task.runing"}, true},
		{[]string{self, "help", "cocoonlock"}, 0, []string{"// bad", "// good"}, true},
		{[]string{"go", "vet", "-vettool=" + self, "plain"}, 0, nil, false},
		{[]string{"go", "vet", "-vettool=" + self, "cocoonlock", "cocoonctx"}, 1, []string{"cocoon.SafePoint between s.mu.Lock", "Yield is given ctx"}, false},
		{[]string{"go", "vet", "-vettool=" + self, "-cocoonctx", "cocoonlock", "cocoonctx"}, 1, []string{"Yield is given ctx"}, false},
		{[]string{"go", "vet", "-vettool=" + self, "policyimports", "policyhiddenmain"}, 0, nil, false},
	} {
		if longtest.Off() && !c.brief {
			continue
		}
		code, out := command(t, c.args[0], c.args[1:]...)
		if code != c.code || (len(c.want) == 0) != (out == "") {
			t.Errorf("%q: code %d, %q; want code %d", c.args, code, out, c.code)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%q: %q; want a part %q", c.args, out, want)
			}
		}
	}
}

// TestWithoutFacts checks which packages are not analyzed for their facts. TestCommand shows that
// go vet accepts the empty file of facts.
func TestWithoutFacts(t *testing.T) {
	std := map[string]string{"io": "io", "net/http": "net/http", "x/net/idna": "vendor/x/net/idna", "unsafe": "unsafe"}
	with := func(path string) map[string]string {
		all := maps.Clone(std)
		all[path] = path
		return all
	}
	standard := map[string]bool{"io": true, "net/http": true, "vendor/x/net/idna": true}
	for _, c := range []struct {
		name     string
		imports  map[string]string
		vetxOnly bool
		done     bool
	}{
		{"only the standard library", std, true, true},
		{"no imports", nil, true, true},
		{"diagnostics too", std, false, false},
		{"Cocoon", with("github.com/cocoon-go/cocoon/cocoon"), true, false},
		{"a package that may import Cocoon", with("example.com/lib"), true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			facts := filepath.Join(t.TempDir(), "facts")
			text, err := json.Marshal(unitchecker.Config{ImportMap: c.imports, Standard: standard, VetxOnly: c.vetxOnly, VetxOutput: facts})
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "vet.cfg")
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			done, err := withoutFacts(file)
			written, missing := os.ReadFile(facts)
			if done != c.done || err != nil || (missing == nil) != c.done || len(written) > 0 {
				t.Errorf("done %v, %v; facts %q, %v; want done %v", done, err, written, missing, c.done)
			}
		})
	}
	for _, arg := range []string{"help", "./...", "missing.cfg"} {
		if done, err := withoutFacts(arg); done || err != nil {
			t.Errorf("%s: %v, %v", arg, done, err)
		}
	}
}

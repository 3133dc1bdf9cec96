package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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

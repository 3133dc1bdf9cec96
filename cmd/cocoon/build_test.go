package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestGoVerbs(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.yaml")
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	if err := os.WriteFile(broken, []byte("version: 1\nlimit: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args     []string
		code     int
		out, err string // parts of the output
	}{
		{args: []string{"build", "-h"}, out: "usage: cocoon build [-cocoon.pkgs PATTERNS]"},
		{args: []string{"test", "--help"}, out: "It is go test, except"},
		{args: []string{"run", "-cocoon.pkgs=", "."}, code: 2, err: "cocoon run: -cocoon.pkgs \"\" has an empty pattern"},
		{args: []string{"build", "-cocoon.policies", missing}, code: 2, err: "none.yaml: no such file"},
		{args: []string{"build", "-cocoon.policies=" + broken}, code: 2, err: `broken.yaml:2:1: the document has no key "limit"`},
		{args: []string{"toolexec"}, code: 2, err: "there is no tool to run"},
		{args: []string{"toolexec", "vet"}, code: 2, err: `there is no option "vet"; want cocoon build`},
	} {
		code, out, err := command("", c.args...)
		if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(err, c.err) {
			t.Errorf("cocoon %s: exit code %d\n%s%swant %d, %q and %q", c.args, code, out, err, c.code, c.out, c.err)
		}
	}
}

// TestLimited: limited returns all sections to which the policies apply a time limit, even if the
// server must register other objects for them.
func TestLimited(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policies.yaml")
	const text = `version: 1
limits:
  - {func: 'github.com/dlclark/regexp2.(*Regexp).FindStringMatch', limit: 100ms}
  - {func: regex.match, limit: 1s}
policies:
  - {name: own, every: 1ms, expr: 'task.sections["encoding/json.Marshal"] > duration("1s") ? throw("late") : continue()'}
  - {name: other, every: 1ms, expr: 'task.sections["regex.match"] > duration("1s") ? throw("late") : continue()'}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"github.com/dlclark/regexp2.(*Regexp).FindStringMatch", "regex.match", "encoding/json.Marshal"}
	if got, err := limited(file); err != nil || !slices.Equal(got, want) {
		t.Errorf("limited functions: %q, %v; want %q", got, err, want)
	}
}

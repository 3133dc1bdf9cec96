package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// The list has the rules that match packages of the program, and what the text shows, each with the
// reason.
func TestGapsKeeps(t *testing.T) {
	longtest.Skip(t, "it analyses a program with all its dependencies")
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	document := filepath.Join(t.TempDir(), "policies.yaml")
	const kept = "version: 1\nnever-unwind:\n  - {name: text/template/..., suspend: false}\n  - example.com/other.F\n"
	if err := os.WriteFile(document, []byte(kept), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"gaps", "-keeps", "-n", "0", "-cocoon.keep=main.count,bytes", "-cocoon.policies", document, "./testdata/throws"}
	code, out, err := command("", args...)
	if code != 0 {
		t.Fatalf("exit code %d: %s%s", code, out, err)
	}
	lines := strings.Split(out, "\n")
	for _, want := range []string{
		"main.count  not unwound, by -cocoon.keep",
		"bytes  not unwound, by -cocoon.keep",
		"text/template/...  not unwound or suspended, by " + document,
		"database/sql  not unwound or suspended, by the list of libraries: the connection of the call is never used again",
		"testdata/throws/kept.go:35  github.com/cocoon-go/cocoon/cmd/cocoon/testdata/throws.cached.func1: s is in cache, and written as far as line 39",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "gorm") || strings.Contains(out, "example.com") {
		t.Errorf("it has packages that the program lacks:\n%s", out)
	}
	_, out, _ = command("", slices.Insert(args, 1, "-json")...)
	var all []keptPlace
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) < 5 {
		t.Fatalf("%v: %s", err, out)
	}
	i := slices.IndexFunc(all, func(k keptPlace) bool { return k.Function == "cached.func1" })
	if i < 0 || all[i].By != "text" || all[i].Line != 35 || all[i].Reason == "" {
		t.Errorf("the kept function is at %d of\n%s", i, out)
	}
}

func TestGapsKeepsAlone(t *testing.T) {
	if code, _, err := command("", "gaps", "-keeps", "-run", "."); code != 2 || !strings.Contains(err, "-keeps and -run cannot be combined") {
		t.Errorf("exit code %d: %s", code, err)
	}
}

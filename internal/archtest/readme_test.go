package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestReadme builds and runs the program in README.md, and compares its output with the output in
// README.md.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	program, printed := fenced(t, readme, "go"), fenced(t, readme, "text")
	// As a package of this module, because of its imports. go run keeps such a program in the build
	// cache, so that most runs of this test link nothing.
	const dir = "internal/archtest/testdata/readme"
	source, overlay := filepath.Join(t.TempDir(), "main.go"), filepath.Join(t.TempDir(), "overlay.json")
	at, err := filepath.Abs(filepath.Join(root, dir, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {at: source}})
	if err := errors.Join(err, os.WriteFile(source, []byte(program), 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "go", "run", "-overlay", overlay, "./"+dir)
	run.Dir = root
	var log bytes.Buffer
	run.Stderr = &log
	out, err := run.Output()
	if err != nil || string(out) != printed {
		t.Errorf("the program printed %q, %v; README.md says %q\n%s", out, err, printed, &log)
	}
}

// TestDefaultRuntimeFunctions checks that README.md or the guide names each function that only calls
// a method of the default runtime: the other methods need no such function.
func TestDefaultRuntimeFunctions(t *testing.T) {
	var text string
	for _, name := range []string{"README.md", filepath.Join("docs", "guide.md")} {
		document, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		text += string(document)
	}
	source, err := os.ReadFile(filepath.Join(root, "cocoon", "default.go"))
	if err != nil {
		t.Fatal(err)
	}
	functions := regexp.MustCompile(`(?m)^func ([A-Z]\w*)\(`).FindAllStringSubmatch(string(source), -1)
	if len(functions) < 2 {
		t.Fatalf("cocoon/default.go has the functions %v", functions)
	}
	for _, f := range functions {
		if !regexp.MustCompile("(cocoon\\.|`)" + f[1] + "[`(]").MatchString(text) {
			t.Errorf("cocoon.%s: neither README.md nor docs/guide.md uses it: remove it", f[1])
		}
	}
}

// fenced returns the one code block of a language.
func fenced(t *testing.T, markdown []byte, language string) string {
	t.Helper()
	blocks := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllSubmatch(markdown, -1)
	if len(blocks) != 1 {
		t.Fatalf("README.md has %d blocks of %s; want one", len(blocks), language)
	}
	return string(blocks[0][1])
}

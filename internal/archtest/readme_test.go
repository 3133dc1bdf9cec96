package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
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
	folder := t.TempDir()
	source, binary := filepath.Join(folder, "main.go"), filepath.Join(folder, "readme")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, source)
	build.Dir = root // its imports are this module's
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), binary).Output() // its log goes to standard error
	if err != nil || string(out) != printed {
		t.Errorf("the program printed %q, %v; README.md says %q", out, err, printed)
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

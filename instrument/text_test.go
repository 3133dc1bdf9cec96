package instrument

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// decidedText decides about a package of one file, a.go.
func decidedText(t *testing.T, src string) *rewriter {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := decided(Package{Path: "p", Files: []string{path}, Exports: exported(t)}, Options{})
	if err != nil || r.mistaken {
		t.Fatal(err, r.mistaken)
	}
	return r
}

// checkHeld checks that locks are held on the lines marked held, and only there.
func checkHeld(t *testing.T, r *rewriter, src string) {
	t.Helper()
	held := map[int]bool{}
	for _, c := range r.codes {
		for _, s := range c.held {
			for _, at := range r.linesOf(s.span) {
				held[at.line] = true
			}
		}
	}
	for i, line := range strings.Split(src, "\n") {
		if want := strings.Contains(line, "// held"); held[i+1] != want && strings.TrimSpace(line) != "}" {
			t.Errorf("line %d, held %v: %s", i+1, held[i+1], line)
		}
	}
}

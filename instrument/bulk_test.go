package instrument

import (
	"os"
	"path/filepath"
	"testing"
)

// TestBulkStays checks that builtin functions stay if the language version is older than the
// inserted code, or if a name has another meaning.
func TestBulkStays(t *testing.T) {
	const src = "package p\nfunc a(x, y []int) { defer a(nil, nil); copy(x, y) }\n"
	path := filepath.Join(t.TempDir(), "a.go")
	for _, c := range []struct {
		version, more string
		bulks         int
	}{
		{"", "", 1}, {"go1.21", "", 1}, {"go1.26", "func max() {}", 1}, {"go1.20", "", 0}, {"", "func clear() {}", 0}, {"", "type byte bool", 0},
	} {
		if err := os.WriteFile(path, []byte(src+c.more), 0o600); err != nil {
			t.Fatal(err)
		}
		res, err := Rewrite(Package{Path: "p", Files: []string{path}, GoVersion: c.version}, Options{})
		if err != nil || res.Stats.Bulks != c.bulks {
			t.Errorf("%+v: %+v, %v", c, res, err)
		}
	}
	const std = "package p\nfunc a[T any](x, y []int, v, w []byte, s, t []T) { defer a(x, y, v, w, s, t); copy(x, y); copy(v, w); copy(s, t) }\n"
	if err := os.WriteFile(path, []byte(std), 0o600); err != nil {
		t.Fatal(err)
	}
	if res, err := Rewrite(Package{Path: "p", Files: []string{path}, Std: true}, Options{}); err != nil || res.Stats.Bulks != 2 {
		t.Errorf("of the standard library: %+v, %v", res, err)
	}
}

package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLayout checks that the layout in docs/design.md lists each folder of a package, and that each
// folder in the layout and in the rules exists. A folder with many commands or examples needs one
// line.
func TestLayout(t *testing.T) {
	design, err := os.ReadFile(filepath.Join(root, "docs", "design.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(design), "\n## Layout")
	text, _, _ = strings.Cut(text, "\n`a < b`")
	var layout []string
	for _, m := range regexp.MustCompile(`(?m)^([a-z/]+)/ `).FindAllStringSubmatch(text, -1) {
		layout = append(layout, m[1])
	}
	for _, f := range sources(t) {
		if !slices.Contains(layout, f.pkg) && !slices.ContainsFunc(layout, func(l string) bool { return below[l+"/"] != "" && strings.HasPrefix(f.pkg, l+"/") }) {
			t.Errorf("%s: the layout in docs/design.md lacks it: add a line", f.pkg)
		}
	}
	for row := range below {
		layout = append(layout, strings.TrimSuffix(row, "/"))
	}
	for _, folder := range layout {
		if files, err := filepath.Glob(filepath.Join(root, folder, "*")); err != nil || len(files) == 0 {
			t.Errorf("%s: it is in the layout in docs/design.md or in the rules of this package, and there is no such folder: remove it", folder)
		}
	}
}

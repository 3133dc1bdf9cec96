package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestInvariantsAreTested checks that a comment in a test names each invariant of docs/design.md by
// its number, as in "Invariant 5" or "invariants 8 and 9".
func TestInvariantsAreTested(t *testing.T) {
	design, err := os.ReadFile(filepath.Join(root, "docs", "design.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := regexp.MustCompile(`(?ms)^## Invariants$(.*?)^## `).FindSubmatch(design)
	if listed == nil {
		t.Fatal("docs/design.md has no section Invariants")
	}
	named := map[string]bool{}
	mention, number := regexp.MustCompile(`(?m)//.*\b[Ii]nvariants? (\d+(?:(?:, | and )\d+)*)`), regexp.MustCompile(`\d+`)
	for _, pattern := range []string{"cocoon/*_test.go", "internal/*/*_test.go"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || files == nil {
			t.Fatalf("%s: no file, error %v", pattern, err)
		}
		for _, file := range files {
			if filepath.Base(file) == "invariants_test.go" {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range mention.FindAllSubmatch(text, -1) {
				for _, n := range number.FindAllString(string(m[1]), -1) {
					named[n] = true
				}
			}
		}
	}
	numbers := regexp.MustCompile(`(?m)^(\d+)\. `).FindAllSubmatch(listed[1], -1)
	if len(numbers) < 10 {
		t.Errorf("docs/design.md lists %d invariants; the test does not read the list right", len(numbers))
	}
	for _, m := range numbers {
		if !named[string(m[1])] {
			t.Errorf("no test names invariant %s of docs/design.md: write the number into the comment of its test", m[1])
		}
	}
}

package analyzer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
)

// The policies of the cookbook fit loops of all sizes.
func TestCookbookFitsAllLoops(t *testing.T) {
	files, _ := filepath.Glob("../docs/cookbook/*.yaml")
	for _, file := range files {
		if strings.HasSuffix(file, "_test.yaml") {
			continue
		}
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := document.Read(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		states, _ := policy.StatesOf(doc.States)
		for _, s := range doc.Policies {
			for _, slots := range []int{1, 2, 3, 100} {
				if r := OnSlots(members(t, states, s)[0], []Loop{{"default", slots}}); r != nil {
					t.Errorf("%s: %s on %d slots: %v", file, s.Name, slots, r.Err)
				}
			}
		}
	}
}

package keep

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDocumentedLibraries checks that the tables of libraries in docs/safepoints.md equal the list:
// one for functions in which tasks are not suspended, and one for the others.
func TestDocumentedLibraries(t *testing.T) {
	doc, err := os.ReadFile("../../docs/safepoints.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		title     string
		noSuspend bool
	}{{"library", true}, {"function", false}} {
		want := "| " + c.title + " | what a throw in there does |\n| --- | --- |\n"
		for _, l := range Libraries {
			if l.NoSuspend == c.noSuspend {
				want += fmt.Sprintf("| `%s` | %s |\n", l.Pattern, l.Why)
			}
		}
		if !strings.Contains(string(doc), want+"\n") {
			t.Errorf("docs/safepoints.md lacks the table\n%s", want)
		}
	}
}

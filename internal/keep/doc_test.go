package keep

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDocumentedLibraries checks that the table of libraries in docs/safepoints.md equals the list.
func TestDocumentedLibraries(t *testing.T) {
	doc, err := os.ReadFile("../../docs/safepoints.md")
	if err != nil {
		t.Fatal(err)
	}
	want := "| library | what a throw in there does |\n| --- | --- |\n"
	for _, l := range Libraries {
		want += fmt.Sprintf("| `%s` | %s |\n", l.Pattern, l.Why)
		if !l.NoSuspend {
			t.Errorf("%s: the document says that tasks are not suspended in any of them", l.Pattern)
		}
	}
	if !strings.Contains(string(doc), want+"\n") {
		t.Errorf("docs/safepoints.md lacks the table\n%s", want)
	}
}

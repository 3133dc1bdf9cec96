package policy

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/stubs"
)

var docEnv = Env{
	On: stubs.Tick,
	States: map[string]stubs.Type{"overloaded": stubs.Bool, "served": stubs.Int,
		"ratio": stubs.Float, "budget": stubs.Duration},
	Funcs: map[string]bool{"Alarm": true},
}

func readDoc(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDocExamples parses every fenced block: "policy" must be accepted, "policy refused" ends in a
// comment with the exact error, "on EVENT" says when it is evaluated, and "yaml" is a document.
func TestDocExamples(t *testing.T) {
	blocks := regexp.MustCompile("(?ms)^```(\\w+) ?([^\n]*)\n(.*?)^```$").FindAllStringSubmatch(readDoc(t), -1)
	counts := map[string]int{}
	for _, b := range blocks {
		kind, info, body := b[1], b[2], b[3]
		counts[kind]++
		switch kind {
		case "policy":
			docPolicy(t, info, body)
		case "yaml":
			if info == "tests" {
				docTests(t, body)
			} else {
				docDocument(t, body)
			}
		}
	}
	if counts["policy"] < 20 || counts["yaml"] != 2 {
		t.Errorf("found the blocks %v", counts)
	}
}

func docPolicy(t *testing.T, info, body string) {
	t.Helper()
	env := docEnv
	rest, refused := strings.CutPrefix(info, "refused")
	if _, name, ok := strings.Cut(rest, "on "); ok {
		env.On = stubs.EventNamed(name)
	}
	if !refused {
		if _, err := Parse(body, env); err != nil {
			t.Errorf("%+v", err)
		}
		return
	}
	text, want, ok := strings.Cut(body, "\n// ")
	if !ok {
		t.Fatalf("%q says no error", body)
	}
	_, err := Parse(text, env)
	if got := fmt.Sprint(err); got != strings.TrimSpace(want) {
		t.Errorf("%s\n got %s\nwant %s", text, got, want)
	}
}

func docDocument(t *testing.T, body string) {
	t.Helper()
	d, err := ReadDocument(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]stubs.Type{}
	for name, v := range d.States {
		_, types[name], _ = stubs.Word(v)
	}
	for _, s := range d.Policies {
		if _, err := s.Parse(types, nil); err != nil {
			t.Errorf("%+v", err)
		}
	}
}

func docTests(t *testing.T, body string) {
	t.Helper()
	if tests, err := ReadTests(strings.NewReader(body)); err != nil || len(tests.Tests) != 2 {
		t.Errorf("%+v", err)
	}
}

// stubRow is how docs/policy.md tells of a stub.
func stubRow(s stubs.Stub) string {
	path, on := s.Path, "all"
	if s.Keyed {
		path += `["key"]`
	}
	if s.Quantile {
		path += "(q)"
	}
	if s.On != stubs.AnyEvent {
		on = s.On.String()
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |", path, s.Type, on, s.Doc)
}

func TestDocStubs(t *testing.T) {
	doc := readDoc(t)
	want := map[string]bool{}
	for _, s := range stubs.Catalogue {
		row := stubRow(s)
		want[row] = true
		if !strings.Contains(doc, row+"\n") {
			t.Errorf("docs/policy.md lacks the row\n%s", row)
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `(task|arriving|tenant|class|queue|loop|runtime|event)\\..*$").FindAllString(doc, -1) {
		if !want[row] {
			t.Errorf("docs/policy.md has the row\n%s\nwhich is no stub", row)
		}
	}
}

// TestDocBounds compares the numbers in the document with the constants.
func TestDocBounds(t *testing.T) {
	doc := readDoc(t)
	for _, row := range []string{
		fmt.Sprintf("| the text | %d KiB of", MaxText>>10),
		fmt.Sprintf("operators | %d |", MaxTokens),
		fmt.Sprintf("| %d deep |", MaxDepth),
		fmt.Sprintf("| operations after lowering | %d |", MaxNodes),
		fmt.Sprintf("| effects | %d |", stubs.MaxSites),
		fmt.Sprintf("| %d elements |", MaxRange),
		fmt.Sprintf("| %d, the outermost |", stubs.MaxStack),
		fmt.Sprintf("1 to %d bytes", MaxReason),
		fmt.Sprintf("at most %d bytes |", stubs.MaxName),
		fmt.Sprintf("more than %d MiB", MaxDocument>>20),
		fmt.Sprintf("at most %d tasks", MaxTasks),
	} {
		if !strings.Contains(doc, row) {
			t.Errorf("docs/policy.md does not say %q", row)
		}
	}
}

package document

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

var docEnv = func() lang.Env {
	e := lang.Env{On: stubs.Tick, Funcs: map[string]bool{"Alarm": true}}
	for name, declared := range map[string]any{"overloaded": false, "served": 0, "ratio": 0.0, "budget": time.Second,
		"spent": policy.Keyed{First: time.Second, Keys: 1}, "pairs": policy.Keyed{First: time.Second, Keys: 1, By: []string{"name", "name"}},
		"shards": policy.Keyed{First: time.Second, Keys: 1, By: []string{"name", "int"}}, "numbers": policy.Keyed{First: time.Second, Keys: 1, By: []string{"int"}}, "bucket": policy.Bucket{Rate: 10, Burst: 5}, "requests": policy.Keyed{First: policy.Bucket{Rate: 10, Burst: 5}, Keys: 1}} {
		s, err := policy.StateOf(declared)
		if err != nil {
			panic(err)
		}
		e.Declare(name, s.Type, s.Table())
	}
	return e
}()

func readDoc(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/policy.md")
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
	if counts["policy"] < 20 || counts["yaml"] != 3 {
		t.Errorf("found the blocks %v", counts)
	}
}

func docPolicy(t *testing.T, info, body string) {
	t.Helper()
	env := docEnv
	rest, refused := strings.CutPrefix(info, "refused")
	if _, name, ok := strings.Cut(rest, "on "); ok {
		env.On = 0
		for one := range strings.SplitSeq(name, "+") {
			env.On |= stubs.EventNamed(one)
		}
	}
	if !refused {
		if _, err := lang.Parse(body, env); err != nil {
			t.Errorf("%+v", err)
		}
		return
	}
	text, want, ok := strings.Cut(body, "\n// ")
	if !ok {
		t.Fatalf("%q says no error", body)
	}
	_, err := lang.Parse(text, env)
	if got := fmt.Sprint(err); got != strings.TrimSpace(want) {
		t.Errorf("%s\n got %s\nwant %s", text, got, want)
	}
}

func docDocument(t *testing.T, body string) {
	t.Helper()
	d, err := Read(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]policy.State{}
	for name, v := range d.States {
		states[name], _ = policy.StateOf(v)
	}
	for _, s := range d.Policies {
		if _, err := s.Parse(states, nil); err != nil {
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
		fmt.Sprintf("| the text | %d KiB of", lang.MaxText>>10),
		fmt.Sprintf("operators | %d;", lang.MaxTokens),
		fmt.Sprintf("| constants in lists | %d |", lang.MaxConstants),
		fmt.Sprintf("| %d deep |", lang.MaxDepth),
		fmt.Sprintf("| operations after lowering | %d |", lang.MaxNodes),
		fmt.Sprintf("| effects | %d |", stubs.MaxSites),
		fmt.Sprintf("| %d elements |", lang.MaxRange),
		fmt.Sprintf("| %d, the outermost |", stubs.MaxStack),
		fmt.Sprintf("1 to %d bytes", lang.MaxReason),
		fmt.Sprintf("at most %d bytes |", stubs.MaxName),
		fmt.Sprintf("more than %d MiB", MaxSize>>20),
		fmt.Sprintf("at most %d tasks", MaxTasks),
		fmt.Sprintf("taken from | %d |", lang.MaxLookUps),
		"| keys of a keyed state | " + thousands(policy.MaxKeys) + ",",
		"come in a second | " + thousands(policy.MaxBurst) + " |",
	} {
		if !strings.Contains(doc, row) {
			t.Errorf("docs/policy.md does not say %q", row)
		}
	}
}

// thousands writes a number as texts do.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func TestWindows(t *testing.T) {
	doc := strings.Join(strings.Fields(readDoc(t)), " ")
	if ir.MinWindow != 10*time.Millisecond || ir.MaxWindow != 168*time.Hour || ir.DefaultWindow != 10*time.Second ||
		!strings.Contains(doc, "10 ms to 168 h") || !strings.Contains(doc, "the default is 10 s") {
		t.Errorf("a window is %v to %v, %v by default; docs/policy.md says something else", ir.MinWindow, ir.MaxWindow, ir.DefaultWindow)
	}
}

// Package cookbook tests the policies of docs/cookbook.md. It has tests only.
package cookbook

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/policytest"
)

const page = "../cookbook.md"

var update = flag.Bool("update", false, "write the documents into ../cookbook.md")

// documents returns the names of the policies' documents, without .yaml.
func documents(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.yaml") {
			names = append(names, strings.TrimSuffix(file, ".yaml"))
		}
	}
	if len(names) < 10 {
		t.Fatalf("found %q", names)
	}
	return names
}

// TestPolicies runs the tests of each document by both evaluators. They reach every branch.
func TestPolicies(t *testing.T) {
	for _, name := range documents(t) {
		t.Run(name, func(t *testing.T) {
			tests := name + "_test.yaml"
			policytest.Run(t, tests)
			text, err := os.ReadFile(tests)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range []string{"documents: [" + name + ".yaml]\n", "coverage: 100%\n"} {
				if !strings.Contains(string(text), line) {
					t.Errorf("%s does not say %q", tests, line)
				}
			}
		})
	}
}

// TestLoad loads each document into a runtime, which accepts it without a warning.
func TestLoad(t *testing.T) {
	for _, name := range documents(t) {
		t.Run(name, func(t *testing.T) {
			rt, err := cocoon.New(cocoon.Config{Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			defer rt.Shutdown(t.Context())
			if err := rt.LoadPolicyFile(name + ".yaml"); err != nil {
				t.Fatalf("%+v", err)
			}
			f, err := os.Open(name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			doc, err := document.Read(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec := range doc.Policies {
				for _, warning := range rt.Policy(spec.Name).Warnings() {
					t.Errorf("policy %q: %s", spec.Name, warning)
				}
			}
		})
	}
}

// section is the part of the page about one document.
var section = regexp.MustCompile("(?ms)^### [^\n]+\n\n(.+?)\n\nSource: (.+?)\n\n" +
	"\\[Document\\]\\(cookbook/([a-z0-9-]+)\\.yaml\\), \\[tests\\]\\(cookbook/([a-z0-9-]+)_test\\.yaml\\)\n\n```yaml\n(.*?)^```$")

// TestPage holds that the page shows each document once, as it is.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]int{}
	for _, s := range section.FindAllStringSubmatch(string(text), -1) {
		name := s[3]
		shown[name]++
		document, err := os.ReadFile(name + ".yaml")
		if err != nil {
			t.Error(err)
		}
		if *update {
			text = []byte(strings.Replace(string(text), s[0], strings.TrimSuffix(s[0], s[5]+"```")+string(document)+"```", 1))
		} else if s[5] != string(document) {
			t.Errorf("%s shows another %s.yaml; write it with go test -run TestPage -update", page, name)
		}
		if s[4] != name || !strings.Contains(s[2], "](https://") {
			t.Errorf("%s: %s: the tests are of %s, the source is %s", page, name, s[4], s[2])
		}
	}
	if *update {
		if err := os.WriteFile(page, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	names := documents(t)
	for _, name := range names {
		if shown[name] != 1 {
			t.Errorf("%s shows %s.yaml %d times", page, name, shown[name])
		}
	}
	if headings := strings.Count(string(text), "\n### "); headings != len(names) {
		t.Errorf("%s has %d policies, and there are %d documents", page, headings, len(names))
	}
	if count := fmt.Sprintf("%d policies", len(names)); !strings.Contains(string(text), count) {
		t.Errorf("%s does not say that it has %s", page, count)
	}
}

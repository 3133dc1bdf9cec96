package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// words matches two words in a row, which a warning has, and an expression of the language has not.
var words = regexp.MustCompile(`\pL+ \pL+`)

// tableWarnings returns the warnings that the table of warnings in docs/policy.md quotes: what
// stands in the first cell of each row, and the other forms that the second cell tells of.
func tableWarnings(t *testing.T) (all []string) {
	t.Helper()
	doc, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "\n| warning | reason |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	_, table, _ = strings.Cut(table, "\n") // the line below the heads
	quotes := regexp.MustCompile("`([^`]+)`")
	for row := range strings.Lines(table) {
		first, second, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		for _, q := range quotes.FindAllStringSubmatch(first, -1) {
			all = append(all, ": "+q[1])
		}
		for _, q := range quotes.FindAllStringSubmatch(second, -1) {
			if words.MatchString(q[1]) {
				all = append(all, q[1])
			}
		}
	}
	return all
}

// TestDocWarnings holds the table of warnings in docs/policy.md to what "cocoon policy check" says
// of a document: each warning of the table has its document in testdata/warnings.txt, which gets
// it, and each document there has its warning in the table. TestDocErrors of package analyzer
// compares the other way round: each warning in the code stands in docs/policy.md.
func TestDocWarnings(t *testing.T) {
	text, err := os.ReadFile("testdata/warnings.txt")
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string]string{}
	for _, section := range strings.Split(string(text), "\n-- ")[1:] {
		warning, doc, _ := strings.Cut(section, "\n")
		documents[warning] = "version: 1\n" + doc + "\n"
	}
	table := tableWarnings(t)
	if len(table) < 60 {
		t.Fatalf("found %d warnings in the table", len(table))
	}
	for _, want := range table {
		name := strings.TrimPrefix(want, ": ")
		doc, ok := documents[name]
		if !ok {
			t.Errorf("docs/policy.md has the warning %q; no document of testdata/warnings.txt gets it", name)
			continue
		}
		delete(documents, name)
		_, out, _ := command(doc, "policy", "check", "-")
		if !slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool {
			_, warning, ok := strings.Cut(line, " warning: ")
			return ok && strings.Contains(warning+";", want)
		}) {
			t.Errorf("docs/policy.md has the warning %q; check says of its document\n%s", name, out)
		}
	}
	for name := range documents {
		t.Errorf("testdata/warnings.txt has a document for %q, of which the table of docs/policy.md does not tell", name)
	}
}

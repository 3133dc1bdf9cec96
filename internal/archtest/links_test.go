package archtest

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the anchors of a document's headings, as Markdown readers make them.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		all[strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return all
}

// TestIndexes checks that README.md and docs/README.md link to each document.
func TestIndexes(t *testing.T) {
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(documents) < 10 {
		t.Fatalf("%d documents, %v", len(documents), err)
	}
	for index, folder := range map[string]string{"README.md": "docs/", "docs/README.md": ""} {
		text, err := os.ReadFile(filepath.Join(root, index))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range documents {
			name := filepath.Base(d)
			if name != "README.md" && !strings.Contains(string(text), "]("+folder+name+")") {
				t.Errorf("%s: there is no link to %s%s", index, folder, name)
			}
		}
	}
}

// TestLinks checks that each relative link of each document leads to a file, and to a heading of
// it.
func TestLinks(t *testing.T) {
	tree := os.DirFS(root)
	links := 0
	headings := map[string]map[string]bool{}
	anchorsOf := func(file string) (map[string]bool, error) {
		if headings[file] != nil {
			return headings[file], nil
		}
		text, err := fs.ReadFile(tree, file)
		if err == nil {
			headings[file] = anchors(string(text))
		}
		return headings[file], err
	}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if path.Ext(name) != ".md" {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue // not relative
			}
			links++
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			if _, err := fs.Stat(tree, file); err != nil {
				t.Errorf("%s: the link to %s leads nowhere: %v", name, m[1], err)
				continue
			}
			if anchor == "" {
				continue
			}
			if there, err := anchorsOf(file); err != nil || !there[anchor] {
				t.Errorf("%s: %s has no heading #%s (%v)", name, file, anchor, err)
			}
		}
		return nil
	})
	if err != nil || links == 0 {
		t.Errorf("%d links, %v", links, err)
	}
}

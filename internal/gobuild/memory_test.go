package gobuild

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// age makes all files of the module old enough for findings to be remembered.
func (m module) age(t *testing.T) {
	t.Helper()
	before := time.Now().Add(-time.Minute)
	for path := range m.contents(t) {
		if err := os.Chtimes(path, before, before); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range folders(string(m)) {
		if err := os.Chtimes(folder, before, before); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFindingsAreRemembered checks that findings are remembered until any of their files changes,
// and that errors are not remembered.
func TestFindingsAreRemembered(t *testing.T) {
	const limit = "package main\n\nimport \"github.com/cocoon-go/cocoon/cocoon\"\n\nvar _ = cocoon.TimeLimit{Func: \"example.com/app.NAME\"}\n"
	m := newModule(t, gomod+"-- main.go --\npackage main\n\nfunc main() {}\n-- dep/dep.go --\npackage dep\n-- sub/text --\n\n")
	m.write(t, "limit.go", strings.ReplaceAll(limit, "NAME", "first"))
	t.Setenv("GOENV", filepath.Join(t.TempDir(), "env"))
	cache := filepath.Join(t.TempDir(), "new")
	find := func(args ...string) (names []string, listed bool, err error) {
		t.Helper()
		c, err := command(append([]string{"build", "-C", string(m)}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		c.Cache = cache
		names, err = c.find(t.Context())
		return names, c.packages != nil, err
	}
	m.age(t)
	steps := []struct {
		name   string
		change func()
		args   string
		listed bool
		want   string
	}{
		{"at first", func() {}, "./...", true, "first"},
		{"nothing changed", func() {}, "./...", false, "first"},
		{"a source", func() { m.write(t, "limit.go", strings.ReplaceAll(limit, "NAME", "second")) }, "./...", true, "second"},
		{"another pattern", func() {}, "-cocoon.pkgs=./dep ./...", true, "second"},
		{"a new source", func() { m.write(t, "new.go", strings.ReplaceAll(limit, "NAME", "third")) }, "./...", true, "second third"},
		{"one less", func() { os.Remove(m.path("new.go")) }, "./...", true, "second"},
		{"a package", func() { m.write(t, "sub/deep/new.go", strings.ReplaceAll(limit, "NAME", "fourth")) }, "./...", true, "fourth second"},
		{"nothing again", func() {}, "./...", false, "fourth second"},
		{"go.mod", func() { m.write(t, "go.mod", strings.TrimPrefix(gomod, "-- go.mod --\n")+"\n") }, "./...", true, "fourth second"},
		{"go.work", func() { m.write(t, "go.work", "go 1.25\n\nuse .\nuse ./cocoon\n") }, "./...", true, "fourth second"},
		{"go env", func() { os.WriteFile(os.Getenv("GOENV"), []byte("GOFLAGS=-tags=x\n"), 0o600) }, "./...", true, "fourth second"},
	}
	for _, s := range longtest.Cases(steps, 3) {
		s.change()
		names, listed, err := find(strings.Fields(s.args)...)
		if got := strings.ReplaceAll(strings.Join(names, " "), "example.com/app.", ""); err != nil || listed != s.listed || got != s.want {
			t.Errorf("%s: found %q, go list was run: %t, %v; want %q, %t", s.name, got, listed, err, s.want, s.listed)
		}
		if s.listed { // recent changes are not remembered
			m.age(t)
			if _, _, err := find(strings.Fields(s.args)...); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 2 {
		if _, listed, err := find("-cocoon.pkgs=./none", "./..."); err == nil || !listed {
			t.Errorf("a wrong pattern: go list was run: %t, %v", listed, err)
		}
	}
}

// TestYoungFilesAreNotRemembered checks recent files: a file may change again within the same tick
// of the clock of its time.
func TestYoungFilesAreNotRemembered(t *testing.T) {
	file := filepath.Join(t.TempDir(), "source.go")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	memory := filepath.Join(t.TempDir(), "found-x")
	f := findings{Files: []stamp{stampOf(file)}}
	written := time.Unix(0, f.Files[0].Changed)
	if f.remember(memory, written.Add(settled/2)); stampOf(memory).Size >= 0 {
		t.Error("a file that was written just before is remembered")
	}
	f.remember(memory, written.Add(2*settled))
	if _, ok := recall(memory); !ok {
		t.Error("a file that is old enough is not remembered")
	}
}

// TestOldFindingsAreRemoved checks also that an unreadable file counts as absent.
func TestOldFindingsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	old, broken, now := filepath.Join(dir, "found-old"), filepath.Join(dir, "found-broken"), filepath.Join(dir, "found-now")
	for _, file := range []string{old, broken} {
		if err := os.WriteFile(file, []byte(`{"Sections"`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := recall(broken); ok {
		t.Error("half a file holds")
	}
	yesterday := time.Now().Add(-goodFor)
	if err := os.Chtimes(old, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	findings{}.remember(now, time.Now())
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || !slices.Equal(left, []string{broken, now}) {
		t.Errorf("left: %q, %v", left, err)
	}
}

// TestReadOnlyMemory checks that with a read-only cache nothing is remembered, and that the build
// is otherwise the same.
func TestReadOnlyMemory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	memory := filepath.Join(file, "found-x")
	findings{}.remember(memory, time.Now())
	if _, ok := recall(memory); ok {
		t.Error("a folder that is a file remembers")
	}
}

package gobuild

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var (
	relativeImport = regexp.MustCompile(`"\./(\w+)"`)
	packageClause  = regexp.MustCompile(`(?m)^package (\w+)`)
)

// directory compiles the packages of a folder, in the order of their files, and links and runs the
// last.
func (d *distribution) directory(t *testing.T, dir, from string, runs, rewrites bool) (o outcome) {
	paths, err := filepath.Glob(filepath.Join(from, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Skipf("no files in %s: %v", from, err)
	}
	var order []string
	files := map[string][]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		m := packageClause.FindSubmatch(text)
		if err != nil || m == nil {
			t.Skipf("%s has no package: %v", path, err)
		}
		name := string(m[1])
		if files[name] == nil {
			order = append(order, name)
		}
		to := filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(to, relativeImport.ReplaceAll(text, []byte(`"test/$1"`)), 0o600); err != nil {
			t.Fatal(err)
		}
		files[name] = append(files[name], to)
	}
	imports := filepath.Join(dir, "importcfg")
	cfg, err := os.ReadFile(d.imports)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range order {
		if err := os.WriteFile(imports, cfg, 0o600); err != nil {
			t.Fatal(err)
		}
		path, object := "test/"+name, filepath.Join(dir, fmt.Sprintf("%d.a", i))
		if name == "main" {
			path = name
		}
		compiled := d.compile(t, rewrites, path, imports, object, files[name]...)
		o.said, o.notes, o.code = o.said+compiled.said, o.notes+compiled.notes, compiled.code
		if o.code != 0 {
			return o
		}
		cfg = append(cfg, fmt.Sprintf("packagefile test/%s=%s\n", name, object)...)
		if i == len(order)-1 && runs {
			ran := d.link(t, dir, object, imports, from, nil)
			ran.notes = o.notes
			return ran
		}
	}
	return o
}

package instrument

import (
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// replaced maps the functions that work in pieces to the builtin functions they replace.
var replaced = map[string]string{
	"cocoon_bulkCopy": "copy", "cocoon_bulkCopyString": "copy", "cocoon_bulkAppend": "append", "cocoon_bulkAppendString": "append",
	"cocoon_bulkExtend": "append", "cocoon_bulkClear": "clear",
}

// names returns how often each name occurs on each line of a text. Names in a range clause may
// disappear, because the clause is split.
func names(t *testing.T, text []byte) map[int]map[string]int {
	t.Helper()
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	at := map[int]map[string]int{}
	ast.Inspect(tree, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name != "_" {
			line := set.PositionFor(id.Pos(), false).Line
			if at[line] == nil {
				at[line] = map[string]int{}
			}
			at[line][id.Name]++
			if builtin, ok := replaced[id.Name]; ok {
				at[line][builtin]++
			}
		}
		return true
	})
	return at
}

// TestLinesStay checks that each rewritten file of the standard library parses, has as many lines
// as before, and has all its code on the same lines.
func TestLinesStay(t *testing.T) {
	//lint:ignore SA1019 the sources of the toolchain that runs this test
	root := filepath.Join(runtime.GOROOT(), "src")
	if _, err := os.Stat(root); err != nil {
		t.Skip("no sources of the standard library: ", err)
	}
	dirs := strings.Fields("runtime cmd/compile/internal/ssa net/http go/types math/big reflect encoding/json regexp slices maps strconv sync os image/png")
	if longtest.Off() {
		dirs = dirs[6:8]
	}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			res, err := Rewrite(Package{Path: "p", Files: []string{path}}, Options{})
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			text, changed := res.Files[path]
			if !changed {
				continue
			}
			if a, b := bytes.Count(src, []byte("\n")), bytes.Count(text, []byte("\n")); a != b {
				t.Errorf("%s: %d lines became %d", path, a, b)
			}
			now := names(t, text)
			for line, want := range names(t, src) {
				if now[line]["cocoon_bulkExtend"] > 0 || now[line-1]["cocoon_bulkMade"] > 0 || now[line]["cocoon_bulkMade"] > 0 {
					continue // a type was removed, or code moved to the line before
				}
				for name, n := range want {
					if now[line][name] < n {
						t.Errorf("%s:%d: %s is %d times on the line, was %d", path, line, name, now[line][name], n)
					}
				}
			}
		}
	}
}

// TestTypesStay checks that rewritten packages have no type errors.
func TestTypesStay(t *testing.T) {
	patterns := strings.Fields("bytes compress/flate encoding/json go/types html/template math/big net/http regexp slices maps")
	from := patterns
	if longtest.Off() {
		patterns, from = patterns[:2], imported // which import these two; other tests list them, too
	}
	ps := packages(list(t, from...), func(l listed) bool { return slices.Contains(patterns, l.ImportPath) })
	if len(ps) != len(patterns) {
		t.Fatalf("%d packages, want %d", len(ps), len(patterns))
	}
	for _, p := range ps {
		res, err := Rewrite(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := &rewriter{pkg: p, set: token.NewFileSet()}
		for _, path := range p.Files {
			if _, ok := res.Files[path]; !ok {
				if res.Files[path], err = os.ReadFile(path); err != nil {
					t.Fatal(err)
				}
			}
		}
		var trees []*ast.File
		for _, path := range slices.Sorted(maps.Keys(res.Files)) {
			tree, err := parser.ParseFile(r.set, path, res.Files[path], parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			trees = append(trees, tree)
		}
		conf := types.Config{
			Importer:    exports{importer.ForCompiler(r.set, "gc", r.open), p.ImportMap},
			Error:       func(err error) { t.Error(err) },
			FakeImportC: true,
		}
		conf.Check(p.Path, r.set, trees, nil)
	}
}

func FuzzRewrite(f *testing.F) {
	for _, name := range []string{"loops.go", "calls.go", "main.go"} {
		src, err := os.ReadFile(filepath.Join("testdata", "hostile", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Add([]byte("package p;func a(){for i:=0;i<1;i++{};L:goto L}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if _, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution); err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "a.go")
		if err := os.WriteFile(path, src, 0o600); err != nil {
			t.Fatal(err)
		}
		res, err := Rewrite(Package{Path: "p", Files: []string{path}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		text, ok := res.Files[path]
		if ok && bytes.Count(text, []byte("\n")) != bytes.Count(src, []byte("\n")) {
			t.Fatalf("lines moved:\n%s", text)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution); ok && err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
	})
}

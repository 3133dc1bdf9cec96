package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const root = "../.."

// file is one parsed non-test Go file, for any system.
type file struct {
	pkg  string // folder, relative to the module's root
	tree *ast.File
}

func (f file) imports() []string {
	var paths []string
	for _, spec := range f.tree.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			panic(err) // the parser accepted it
		}
		paths = append(paths, p)
	}
	return paths
}

// positions has the positions of all files that the tests parse.
var positions = token.NewFileSet()

// sources returns the files of this module and of examples for all systems, to find also imports
// that only another system has.
func sources(t *testing.T) []file {
	t.Helper()
	files, err := parseSources()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no Go file was found below " + root)
	}
	return files
}

var parseSources = sync.OnceValues(func() (files []file, err error) {
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			_, err := os.Stat(filepath.Join(name, "go.mod"))
			foreign := err == nil && name != filepath.Join(root, "examples")
			if name != root && (foreign || base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		tree, err := parser.ParseFile(positions, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel(root, filepath.Dir(name))
		files = append(files, file{filepath.ToSlash(pkg), tree})
		return err
	})
	return files, err
})

// forbidden returns the reason why pkg may not import the path, or "".
func forbidden(pkg, imported string) string {
	first, _, _ := strings.Cut(imported, "/")
	local, isLocal := strings.CutPrefix(imported, module+"/")
	switch only, isPure := pure[pkg]; {
	case isPure && !allows(only, imported):
		return "it may import " + only + " only"
	case isLocal:
		allowed, ok := ruleFor(pkg)
		if !ok {
			return "the package has no rule: add one here and in docs/design.md"
		}
		if !allows(allowed, local) {
			return fmt.Sprintf("of this module it may import %q only", allowed)
		}
	case strings.Contains(first, "."): // paths of the standard library have no dots
		for module, users := range thirdParty {
			if within(module, imported) {
				if !allows(users, pkg) {
					return "that module is for " + users + " only"
				}
				return ""
			}
		}
		return "that module has no rule: add one here and in docs/design.md"
	}
	return ""
}

func TestImports(t *testing.T) {
	for _, f := range sources(t) {
		if _, ok := ruleFor(f.pkg); !ok {
			t.Errorf("%s: the package has no rule: add one to this test and to docs/design.md", f.pkg)
		}
		for _, imported := range f.imports() {
			if why := forbidden(f.pkg, imported); why != "" {
				t.Errorf("%s -> %s: %s", f.pkg, imported, why)
			}
		}
	}
}

// TestForbidden checks imports that must be refused, and some that must not.
func TestForbidden(t *testing.T) {
	for _, c := range []struct {
		pkg, imported string
		want          string // part of the reason, "" for none
	}{
		{"policy", module + "/stubs", ""},
		{"stubs", module + "/policy", "may import"},
		{"analyzer", module + "/cocoon", "may import"},
		{"isolate", module + "/cocoon", "may import"},
		{"analyzer/vet", module + "/cocoon", "may import"},
		{"instrument", module + "/safepoint", "may import"},
		{"cocoonhttp", module + "/cocoon", ""},
		{"cocoonhttp", module + "/internal/sched", "may import"},
		{"cmd/cocoon", module + "/instrument", ""},
		{"examples/hol", module + "/examples/redos", "may import"},
		{"examples/hol", module + "/internal/loadtest", ""},
		{"cocoon", module + "/internal/loadtest", "may import"},
		{"newcomer", module + "/stubs", "no rule"},
		{"safepoint", "sync/atomic", ""},
		{"safepoint", "sync", "sync/atomic only"},
		{"internal/sched", "time", "only"},
		{"internal/sched", module + "/stubs", "only"},
		{"stubs", "time", ""},
		{"cocoon", "github.com/tetratelabs/wazero/api", "isolate guest cmd/ examples/ only"},
		{"isolate", "github.com/tetratelabs/wazero/api", ""},
		{"isolate", "github.com/tetratelabs/wazero-extra", "no rule"},
		{"analyzer", "golang.org/x/tools/go/ssa", "only"},
		{"cmd/cocoonvet", "golang.org/x/tools/go/analysis", ""},
		{"policy", "example.com/other", "no rule"},
		{"policy", module + "/policy/document", "may import"},
		{"internal/ir", module + "/internal/lang", "may import"},
		{"isolate", module + "/internal/lang", "may import"},
		{"policy", "gopkg.in/yaml.v3", "policy/document only"},
	} {
		got := forbidden(c.pkg, c.imported)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s -> %s: %q; want %q", c.pkg, c.imported, got, c.want)
		}
	}
}

// TestCoreIsPure checks that the decision core starts no goroutine and uses no channel.
// (TestImports excludes locks and clocks.)
func TestCoreIsPure(t *testing.T) {
	for _, f := range sources(t) {
		if f.pkg != "internal/sched" {
			continue
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
				t.Errorf("%v: a goroutine or channel in the pure core", positions.Position(n.Pos()))
			}
			return true
		})
	}
}

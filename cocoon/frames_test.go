package cocoon

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestFramesExist checks that the functions that the runtime recognises on stacks exist, and have
// the names that it expects.
func TestFramesExist(t *testing.T) {
	for name, f := range map[string]any{
		slowPoint: answerFor, taskBegins: (*strand).call, taskMark + "0": taskMarks[0], taskMark + "F": taskMarks[15],
		sectionBegin + "...]": Section[int],
	} {
		if got := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name(); got != name {
			t.Errorf("%q is expected on stacks; its name is %q", name, got)
		}
	}
	own := functionsIn(t, "..", "cocoon", "safepoint", "cocoonhttp", "cocoongrpc", "internal/tell", "guest")
	for _, name := range ownFrames {
		if !slices.Contains(own, name) {
			t.Errorf("there is no function %s", name)
		}
	}
	for _, prefix := range slices.Concat(ownPrefixes, guests) {
		if !slices.ContainsFunc(own, func(name string) bool { return strings.HasPrefix(name, prefix) }) {
			t.Errorf("no function begins with %q", prefix)
		}
	}
	//lint:ignore SA1019 the sources of the toolchain that runs this test
	std := functionsIn(t, filepath.Join(runtime.GOROOT(), "src"), "runtime", "database/sql")
	if len(std) == 0 {
		t.Skip("no sources of the standard library")
	}
	for _, name := range slices.Concat(callbacks, preemptions, []string{goPanic, goPark}) {
		if !slices.Contains(std, name) {
			t.Errorf("there is no function %s", name)
		}
	}
}

// functionsIn returns the names of the functions of the packages below root, as they appear on
// stacks: folder.F, folder.T.M and folder.(*T).M.
func functionsIn(t *testing.T, root string, folders ...string) (names []string) {
	t.Helper()
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		must(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			must(t, err)
			for _, d := range tree.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					names = append(names, folder+"."+receiver(f)+f.Name.Name)
				}
			}
		}
	}
	return names
}

// receiver returns "", "T." or "(*T).".
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	typ, form := f.Recv.List[0].Type, "%."
	if p, ok := typ.(*ast.StarExpr); ok {
		typ, form = p.X, "(*%)."
	}
	if g, ok := typ.(*ast.IndexExpr); ok {
		typ = g.X
	}
	name, _ := typ.(*ast.Ident)
	if name == nil { // a type with more parameters, which none of these functions has
		return "?."
	}
	return strings.Replace(form, "%", name.Name, 1)
}

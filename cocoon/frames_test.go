package cocoon

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/keep"
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
	var pcs [64]uintptr
	oldest, _ := runtime.CallersFrames(pcs[runtime.Callers(0, pcs[:])-1:]).Next()
	if oldest.Function != goExit {
		t.Errorf("the oldest function on stacks is %s; want %s", oldest.Function, goExit)
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
	text, err := os.ReadFile(filepath.Join("..", "instrument", "emit.go"))
	must(t, err)
	bulk, err := os.ReadFile(filepath.Join("..", "instrument", "bulktext.go"))
	must(t, err)
	for _, name := range []string{insertedPoll, insertedAnswer, insertedBulk} {
		if !strings.Contains(string(text)+string(bulk), "func PREFIX_"+strings.TrimPrefix(name, "cocoon_")) {
			t.Errorf("package instrument inserts no function %s", name)
		}
	}
	for _, client := range honouring { // a throw unwinds all other functions
		if !slices.ContainsFunc(keep.Rules(), func(r keep.Rule) bool {
			return strings.HasPrefix(r.Pattern, strings.TrimSuffix(client, "."))
		}) {
			t.Errorf("no function of %s is kept", client)
		}
	}
	required, err := os.ReadFile(filepath.Join("..", "go.mod"))
	must(t, err)
	for _, prefix := range engine {
		if !strings.Contains(string(required), strings.TrimSuffix(prefix, "/")+" v") {
			t.Errorf("go.mod requires no %s", prefix)
		}
	}
	//lint:ignore SA1019 the sources of the toolchain that runs this test
	sources := filepath.Join(runtime.GOROOT(), "src")
	std := functionsIn(t, sources, "runtime", "database/sql")
	if len(std) == 0 {
		t.Skip("no sources of the standard library")
	}
	if wraps, err := os.ReadFile(filepath.Join(sources, "cmd", "compile", "internal", "ir", "func.go")); err == nil &&
		!strings.Contains(string(wraps), `"`+deferredCall+`"`) {
		t.Errorf("the compiler names no function %s", deferredCall)
	}
	for _, name := range slices.Concat(callbacks, preemptions, []string{goPanic, goPark}) {
		if !slices.Contains(std, name) {
			t.Errorf("there is no function %s", name)
		}
	}
}

// TestFramesStandInOneFile checks that only frames.go compares the function of a frame with text.
func TestFramesStandInOneFile(t *testing.T) {
	files, err := filepath.Glob("*.go")
	must(t, err)
	isName := func(n ast.Expr) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			f, ok := call.Fun.(*ast.Ident)
			return ok && f.Name == "nameOf"
		}
		s, ok := n.(*ast.SelectorExpr)
		return ok && s.Sel.Name == "Function"
	}
	isText := func(n ast.Expr) bool {
		lit, ok := n.(*ast.BasicLit)
		return ok && lit.Kind == token.STRING && lit.Value != `""`
	}
	set := token.NewFileSet()
	for _, file := range files {
		if file == "frames.go" || strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		must(t, err)
		ast.Inspect(tree, func(n ast.Node) bool {
			var operands []ast.Expr
			switch n := n.(type) {
			case *ast.BinaryExpr:
				operands = []ast.Expr{n.X, n.Y}
			case *ast.CallExpr:
				operands = n.Args
			}
			if f, ok := n.(*ast.CallExpr); ok {
				if s, ok := f.Fun.(*ast.SelectorExpr); !ok || !isPackage(s.X, "strings") {
					return true
				}
			}
			if slices.ContainsFunc(operands, isName) && slices.ContainsFunc(operands, isText) {
				t.Errorf("%v: this name of a function belongs in frames.go", set.Position(n.Pos()))
			}
			return true
		})
	}
}

func isPackage(n ast.Expr, name string) bool {
	id, ok := n.(*ast.Ident)
	return ok && id.Name == name
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

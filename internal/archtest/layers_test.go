package archtest

import (
	"go/ast"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// layer is a row of the table of cocoon's files in docs/design.md.
type layer struct {
	name  string
	files []string // without .go
}

// layersOfCocoon reads the table, the lowest layer first.
func layersOfCocoon(t *testing.T) (layers []layer) {
	t.Helper()
	design, err := os.ReadFile(filepath.Join(root, "docs", "design.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(design), "\n### The files of package cocoon")
	text, _, _ = strings.Cut(text, "\n#")
	for _, m := range regexp.MustCompile(`(?m)^\| \*\*(\w+)\*\* \|.*\| ([^|]*) \|$`).FindAllStringSubmatch(text, -1) {
		layers = append(layers, layer{m[1], strings.Fields(m[2])})
	}
	if len(layers) < 5 {
		t.Fatalf("docs/design.md: the table of the files of package cocoon has %d layers; want at least 5", len(layers))
	}
	return layers
}

// uses maps each file of cocoon to the files whose names it uses, with one such name each.
type uses map[string]map[string]string

func usesOfCocoon(t *testing.T) uses {
	t.Helper()
	of, err := loadUses()
	if err != nil {
		t.Fatal(err)
	}
	return of
}

var loadUses = sync.OnceValues(func() (uses, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedExportFile | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedSyntax,
		Dir: root,
	}, "./cocoon")
	if err != nil {
		return nil, err
	}
	p, of := loaded[0], uses{}
	if len(p.Errors) > 0 {
		return nil, p.Errors[0]
	}
	file := func(at ast.Node) string {
		return strings.TrimSuffix(filepath.Base(p.Fset.Position(at.Pos()).Filename), ".go")
	}
	for _, f := range p.Syntax {
		of[file(f)] = map[string]string{}
	}
	for id, object := range p.TypesInfo.Uses {
		if object.Pkg() != p.Types || !shared(object) {
			continue
		}
		user := file(id)
		definer := strings.TrimSuffix(filepath.Base(p.Fset.Position(object.Pos()).Filename), ".go")
		if name := of[user][definer]; user != definer && (name == "" || object.Name() < name) {
			of[user][definer] = object.Name()
		}
	}
	return of, nil
})

// shared reports whether files other than its own can use the object.
func shared(object types.Object) bool {
	if v, ok := object.(*types.Var); ok && v.IsField() {
		return true
	}
	return object.Parent() == nil || object.Parent() == object.Pkg().Scope()
}

// TestFilesOfCocoonStandInLayers checks that each file of cocoon is in the table of docs/design.md
// once, and that it uses only files of its own layer and of lower ones.
func TestFilesOfCocoonStandInLayers(t *testing.T) {
	layers, at := layersOfCocoon(t), map[string]int{}
	for i, l := range layers {
		for _, f := range l.files {
			if was, twice := at[f]; twice {
				t.Errorf("docs/design.md: %s is in the layers %s and %s; want one", f, layers[was].name, l.name)
			}
			at[f] = i
		}
	}
	present, err := filepath.Glob(filepath.Join(root, "cocoon", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	listed := maps.Clone(at)
	for _, path := range present {
		name := strings.TrimSuffix(filepath.Base(path), ".go")
		if _, ok := at[name]; !ok && !strings.HasSuffix(name, "_test") {
			t.Errorf("cocoon/%s.go: the table of files in docs/design.md lacks it: add it to a layer", name)
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("docs/design.md: the table of files has %s, and there is no cocoon/%s.go: remove it", name, name)
	}
	for user, definers := range usesOfCocoon(t) {
		for definer, name := range definers {
			if at[user] < at[definer] {
				t.Errorf("cocoon/%s.go (layer %s) uses %s of %s.go in the layer %s above it: move the one up, the other down, "+
					"or give the function to the lower layer, as errands does",
					user, layers[at[user]].name, name, definer, layers[at[definer]].name)
			}
		}
	}
}

// mostInCycle is how many files of cocoon may use each other in circles: those of the types that
// refer to each other.
const mostInCycle = 12

// TestFilesOfCocoonFormNoCycles checks that only files of the layer state use each other in
// circles.
func TestFilesOfCocoonFormNoCycles(t *testing.T) {
	of := usesOfCocoon(t)
	var state []string
	for _, l := range layersOfCocoon(t) {
		if l.name == "state" {
			state = l.files
		}
	}
	if len(state) > mostInCycle {
		t.Errorf("the layer state has %d files; want at most %d", len(state), mostInCycle)
	}
	var shortest []string
	for _, file := range slices.Sorted(maps.Keys(of)) {
		circle := circleFrom(file, func(file string) (next []string) {
			for _, used := range slices.Sorted(maps.Keys(of[file])) {
				if !slices.Contains(state, file) || !slices.Contains(state, used) {
					next = append(next, used)
				}
			}
			return next
		})
		if circle != nil && (shortest == nil || len(circle) < len(shortest)) {
			shortest = circle
		}
	}
	for i := 1; i < len(shortest); i++ {
		t.Errorf("a circle: cocoon/%s.go uses %s of %s.go", shortest[i-1], of[shortest[i-1]][shortest[i]], shortest[i])
	}
}

// circleFrom returns the shortest way from file back to file, or nil.
func circleFrom(file string, uses func(string) []string) []string {
	seen := map[string]bool{}
	for ways := [][]string{{file}}; len(ways) > 0; ways = ways[1:] {
		way := ways[0]
		for _, next := range uses(way[len(way)-1]) {
			longer := append(slices.Clone(way), next)
			if next == file {
				return longer
			}
			if !seen[next] {
				seen[next] = true
				ways = append(ways, longer)
			}
		}
	}
	return nil
}

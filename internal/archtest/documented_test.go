package archtest

import (
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// public are the packages that programs import, in this module and in modules of their own, except
// analyzers for cocoonvet.
var public = []string{
	"analyzer", "cocoon", "cocoongrpc", "cocoonhttp", "cocoonsql", "instrument", "isolate", "notify",
	"policy", "policy/document", "policytest", "safepoint", "stubs", "analyzer/vet",
	"guest", "guest/meter",
	"cocoonprom", "cocoonotel",
	"cocoondebug",
}

// documentation has the packages that a test has asked for. No test changes it.
var documentation = map[string]*doc.Package{}

// parsed returns the documentation of a package, and its examples. Files for all systems count.
func parsed(t *testing.T, pkg string) *doc.Package {
	t.Helper()
	if p := documentation[pkg]; p != nil {
		return p
	}
	folder := filepath.Join(root, pkg)
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".go" {
			continue
		}
		f, err := parser.ParseFile(positions, filepath.Join(folder, e.Name()), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	p, err := doc.NewFromFiles(positions, files, module+"/"+pkg)
	if err != nil {
		t.Fatal(err)
	}
	documentation[pkg] = p
	return p
}

// TestPublicIsComplete checks that the list has each folder from which a program can import.
func TestPublicIsComplete(t *testing.T) {
	for _, f := range sources(t) {
		first, _, _ := strings.Cut(f.pkg, "/")
		if first == "internal" || f.tree.Name.Name == "main" || strings.Contains(f.pkg, "/internal/") {
			continue
		}
		if !slices.Contains(public, f.pkg) {
			t.Errorf("%s is a public package: add it to the list, with an example", f.pkg)
		}
	}
	for _, pkg := range public {
		if _, err := fs.Stat(os.DirFS(root), pkg); err != nil {
			t.Error(err)
		}
	}
}

// TestExportedNamesAreDocumented checks that pkg.go.dev has a text for each exported name.
func TestExportedNamesAreDocumented(t *testing.T) {
	for _, pkg := range public {
		p := parsed(t, pkg)
		check := func(name, text string, at token.Pos) {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%v: %s.%s has no comment", positions.Position(at), pkg, name)
			}
		}
		check("", p.Doc, token.NoPos)
		checkValues := func(values []*doc.Value) {
			for _, v := range values {
				for _, s := range v.Decl.Specs {
					s := s.(*ast.ValueSpec)
					check(s.Names[0].Name, v.Doc+s.Doc.Text()+s.Comment.Text(), s.Pos())
				}
			}
		}
		checkFuncs := func(of string, funcs []*doc.Func) {
			for _, f := range funcs {
				if of != "" && (f.Name == "Error" || f.Name == "String") {
					continue // as error and fmt.Stringer say
				}
				check(of+f.Name, f.Doc, f.Decl.Pos())
			}
		}
		checkValues(p.Consts)
		checkValues(p.Vars)
		checkFuncs("", p.Funcs)
		for _, typ := range p.Types {
			check(typ.Name, typ.Doc, typ.Decl.Pos())
			checkValues(typ.Consts)
			checkValues(typ.Vars)
			checkFuncs("", typ.Funcs)
			checkFuncs(typ.Name+".", typ.Methods)
		}
	}
}

// shown are names that need an example of their own, by package.
var shown = map[string]string{
	"cocoon":      "Run Go Block Section RegisterPolicy LoadPolicies Decisions",
	"cocoonhttp":  "Middleware",
	"cocoonsql":   "Open",
	"cocoonprom":  "NewCollector",
	"cocoondebug": "Handler",
	"cocoonotel":  "Instrument",
	"cocoongrpc":  "UnaryServerInterceptor StreamServerInterceptor UnaryClientInterceptor StreamClientInterceptor",
}

// TestExamples checks that each public package has an example, and the names above theirs, and that
// each is run: it has an output that go test compares.
func TestExamples(t *testing.T) {
	for _, pkg := range public {
		p := parsed(t, pkg)
		found := map[string]bool{}
		for _, e := range examples(p) {
			if e.Output == "" && !e.EmptyOutput {
				t.Errorf("%s: Example%s has no output, so it is not run", pkg, e.Name)
			}
			for part := range strings.SplitSeq(e.Name, "_") { // Type_Method_suffix
				found[part] = true
			}
		}
		if len(found) == 0 {
			t.Errorf("%s has no example", pkg)
		}
		for name := range strings.FieldsSeq(shown[pkg]) {
			if !found[name] {
				t.Errorf("%s has no Example%s", pkg, name)
			}
		}
	}
}

// examples returns the examples of a package and of all its names.
func examples(p *doc.Package) []*doc.Example {
	all := p.Examples
	for _, f := range p.Funcs {
		all = append(all, f.Examples...)
	}
	for _, typ := range p.Types {
		all = append(all, typ.Examples...)
		for _, f := range slices.Concat(typ.Funcs, typ.Methods) {
			all = append(all, f.Examples...)
		}
	}
	return all
}

// TestPackageComments checks that the comment of each public package has headings, and that its
// links to names lead somewhere.
func TestPackageComments(t *testing.T) {
	for _, pkg := range public {
		p := parsed(t, pkg)
		headings := 0
		for _, block := range p.Parser().Parse(p.Doc).Content {
			switch block := block.(type) {
			case *comment.Heading:
				headings++
			case *comment.Paragraph:
				for _, text := range block.Text {
					if plain, ok := text.(comment.Plain); ok && strings.Contains(string(plain), "[") {
						t.Errorf("%s: a link in the package comment leads nowhere: %s", pkg, plain)
					}
				}
			}
		}
		if headings == 0 {
			t.Errorf("%s: the package comment has no headings", pkg)
		}
	}
}

package archtest

import (
	"go/ast"
	"go/doc"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// structOf returns the fields of a struct type, or nil.
func structOf(p *doc.Package, name string) *ast.FieldList {
	for _, typ := range p.Types {
		for _, s := range typ.Decl.Specs {
			s := s.(*ast.TypeSpec)
			if st, ok := s.Type.(*ast.StructType); ok && s.Name.Name == name {
				return st.Fields
			}
		}
	}
	return nil
}

// TestAliasesShowTheirFields checks the comments of cocoon's aliases of structs in policy: go doc
// shows no fields of an alias, so its comment lists them, and no others.
func TestAliasesShowTheirFields(t *testing.T) {
	set := token.NewFileSet()
	target := parsed(t, set, "policy")
	listed := regexp.MustCompile(`(?m)^\t([A-Z]\w*)\s`)
	found := 0
	for _, typ := range parsed(t, set, "cocoon").Types {
		for _, s := range typ.Decl.Specs {
			s := s.(*ast.TypeSpec)
			of, ok := s.Type.(*ast.SelectorExpr)
			if !ok || !s.Assign.IsValid() || of.X.(*ast.Ident).Name != "policy" {
				continue
			}
			fields := structOf(target, of.Sel.Name)
			if fields == nil {
				continue
			}
			found++
			var want, got []string
			for _, f := range fields.List {
				for _, n := range f.Names {
					if n.IsExported() {
						want = append(want, n.Name)
					}
				}
			}
			for _, m := range listed.FindAllStringSubmatch(typ.Doc+s.Doc.Text(), -1) {
				got = append(got, m[1])
			}
			if w, g := strings.Join(want, " "), strings.Join(got, " "); w != g {
				t.Errorf("cocoon.%s: the comment lists the fields %q; want %q", s.Name.Name, g, w)
			}
		}
	}
	if found < 5 {
		t.Errorf("%d aliases of structs were found; want those of cocoon/policy.go", found)
	}
}

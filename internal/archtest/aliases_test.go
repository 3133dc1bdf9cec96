package archtest

import (
	"go/ast"
	"go/doc"
	"regexp"
	"slices"
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

// aliased are the packages of whose structs public packages have aliases, by their names.
var aliased = map[string]string{"policy": "policy", "document": "policy/document", "ir": "internal/ir", "gaprecord": "internal/gaprecord"}

// TestAliasesShowTheirFields checks the comments of aliases of structs: go doc shows no fields of
// an alias, so its comment lists them, and no others.
func TestAliasesShowTheirFields(t *testing.T) {
	targets := map[string]*doc.Package{}
	for name, folder := range aliased {
		targets[name] = parsed(t, folder)
	}
	listed := regexp.MustCompile(`(?m)^\t([A-Z]\w*)(?:, ([A-Z]\w*))?\s`)
	found := 0
	for _, typ := range slices.Concat(parsed(t, "cocoon").Types, targets["policy"].Types) {
		for _, s := range typ.Decl.Specs {
			s := s.(*ast.TypeSpec)
			of, ok := s.Type.(*ast.SelectorExpr)
			if !ok || !s.Assign.IsValid() || targets[of.X.(*ast.Ident).Name] == nil {
				continue
			}
			fields := structOf(targets[of.X.(*ast.Ident).Name], of.Sel.Name)
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
				if m[2] != "" {
					got = append(got, m[2])
				}
			}
			if w, g := strings.Join(want, " "), strings.Join(got, " "); w != g {
				t.Errorf("%s: the comment lists the fields %q; want %q", s.Name.Name, g, w)
			}
		}
	}
	if found < 5 {
		t.Errorf("%d aliases of structs were found; want those of cocoon/policy.go", found)
	}
}

package vet

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
)

// TestPlace looks for the text X in constants, and for the source text that stands for it.
func TestPlace(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"raw":                {"`a X b`", "X"},
		"raw, first":         {"`X`", "X"},
		"raw, lines":         {"`a\n\té\n\té X\nb`", "X"},
		"raw, CRLF":          {"`a\r\n\té\r\n\té X\r\nb`", "X"},
		"quoted":             {`"a X b"`, "X"},
		"behind escapes":     {`"\"\t\u00e9\U0001F600\x41é X"`, "X"},
		"an escape":          {`"a\x58b"`, `\x58`},
		"a sum":              {"\"a\\t\" + `b\n` + \"\\x41X\" + \"c\"", "X"},
		"a sum, first":       {"`X` + \"b\"", "X"},
		"in parentheses":     {"(`a` + (`X`))", "X"},
		"the name":           {"a", "a"},
		"a sum with a name":  {"`é` + a + `b`", "a"},
		"behind a name":      {"b + `X`", "X"},
		"a conversion":       {"string(a)", "string(a)"},
		"behind the last":    {"`ab`", "`"},
		"behind the last, 2": {`"ab\n"`, `"`},
	} {
		t.Run(name, func(t *testing.T) {
			src := "package p\r\nconst (\r\na = `-X-`\r\nb = \"-\"\r\nc = " + c.source + ")\n"
			got := markX(t, src)
			if got != c.want {
				t.Errorf("marked %q, want %q", got, c.want)
			}
		})
	}
}

// markX returns the result of place for X, or for the end, in the constant c.
func markX(t *testing.T, src string) string {
	t.Helper()
	fset := token.NewFileSet()
	fset.AddFile("another", -1, 1000)
	f, err := parser.ParseFile(fset, "p.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}}
	pkg, err := new(types.Config).Check("p", fset, []*ast.File{f}, info)
	if err != nil {
		t.Fatal(err)
	}
	value := constant.StringVal(pkg.Scope().Lookup("c").(*types.Const).Val())
	offset := strings.IndexByte(value, 'X')
	if offset < 0 {
		offset = len(value)
	}
	specs := f.Decls[0].(*ast.GenDecl).Specs
	c := &specCheck{pass: &analysis.Pass{Fset: fset, TypesInfo: info}}
	pos, end := c.place(specs[len(specs)-1].(*ast.ValueSpec).Values[0], offset)
	file := fset.File(pos)
	return src[file.Offset(pos):file.Offset(end)]
}

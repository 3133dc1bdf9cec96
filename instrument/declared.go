package instrument

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// Declared returns the names of the functions that the files declare, such as "Parse" and "(*T).M".
// It skips files that do not parse, because the compiler reports them.
func Declared(files []string) map[string]bool {
	names := map[string]bool{}
	for _, file := range files {
		tree, _ := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if tree == nil {
			continue
		}
		for _, d := range tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				names[nameOf(fn)] = true
			}
		}
	}
	return names
}

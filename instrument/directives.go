package instrument

import (
	"go/ast"
	"go/token"
	"sort"
	"strings"
)

// pragmas maps directives to the reason why their functions never poll.
var pragmas = map[string]string{
	"//go:nosplit":            "//go:nosplit: its stack cannot grow for the call",
	"//go:norace":             "//go:norace: it runs where the race detector, and so the slow path, must not",
	"//go:systemstack":        "//go:systemstack: it is the runtime's",
	"//go:nowritebarrier":     "//go:nowritebarrier: it must not write pointers, and the slow path does",
	"//go:nowritebarrierrec":  "//go:nowritebarrierrec: it must not write pointers, and the slow path does",
	"//go:yeswritebarrierrec": "//go:yeswritebarrierrec: it is the runtime's",
	"//go:cgo_unsafe_args":    "//go:cgo_unsafe_args: its arguments are laid out for C",
	"//go:uintptrkeepalive":   "//go:uintptrkeepalive: it is a system call",
	"//go:uintptrescapes":     "//go:uintptrescapes: it is a system call",
}

// directives are the relevant directives of one file.
type directives struct {
	pragmas []*ast.Comment    // of the kinds above, in order
	linked  map[string]string // function name to reason
	before  map[*ast.FuncDecl]token.Pos
}

func directivesOf(set *token.FileSet, f *file) directives {
	d := directives{linked: map[string]string{}, before: map[*ast.FuncDecl]token.Pos{}}
	for _, group := range f.tree.Comments {
		for _, c := range group.List {
			words := strings.Fields(c.Text)
			switch {
			case len(words) == 0 || set.PositionFor(c.Pos(), false).Column != 1:
			case words[0] == "//go:linkname" && len(words) == 3:
				d.linked[words[1]] = "//go:linkname: who calls it by its other name, and when, is unknown"
			case words[0] == "//export" && len(words) == 2:
				d.linked[words[1]] = "//export: C calls it, and must not be unwound"
			case pragmas[words[0]] != "":
				d.pragmas = append(d.pragmas, c)
			}
		}
	}
	end := f.tree.Name.End()
	for _, decl := range f.tree.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			d.before[fn] = end
		}
		end = decl.End()
	}
	return d
}

// exempt returns the reason why the function never polls, or "". A directive applies to the next
// declaration, even with other comments or empty lines in between.
func (d directives) exempt(fn *ast.FuncDecl) string {
	if fn.Recv == nil && d.linked[fn.Name.Name] != "" {
		return d.linked[fn.Name.Name]
	}
	i := sort.Search(len(d.pragmas), func(i int) bool { return d.pragmas[i].Pos() > d.before[fn] })
	if i < len(d.pragmas) && d.pragmas[i].Pos() < fn.Name.Pos() {
		return pragmas[strings.Fields(d.pragmas[i].Text)[0]]
	}
	return ""
}

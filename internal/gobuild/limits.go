package gobuild

import (
	"bytes"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The packages with the TimeLimit type that limits looks for; the type in package cocoon is an
// alias.
const (
	policyPath = "github.com/cocoon-go/cocoon/policy"
	cocoonPath = "github.com/cocoon-go/cocoon/cocoon"
)

// limits finds the names that the sources of a build limit: the constants in the field Func of a
// TimeLimit. It type-checks the sources, so that the constant or the literal may be written in any
// way. It does so without dependencies, because only TimeLimit itself and constants of the
// program's own packages can matter.
type limits struct {
	set      *token.FileSet
	own      map[string]listed         // by import path
	imported map[string]*types.Package // the results of Import
	limit    *types.TypeName           // policy.TimeLimit
	names    []string
}

// limitsIn returns the names in the sources of the graph's own packages, in order. It leaves errors
// in the sources to the compiler.
func limitsIn(g graph) []string {
	l := limits{set: token.NewFileSet(), own: map[string]listed{}, imported: map[string]*types.Package{}}
	l.declareTimeLimit()
	for _, p := range g {
		if p.isOwn() && p.ImportPath == p.path() {
			l.own[p.path()] = p
		}
	}
	for _, p := range g {
		if p.isOwn() {
			l.search(p)
		}
	}
	slices.Sort(l.names)
	return slices.Compact(l.names)
}

// declareTimeLimit declares stand-ins for the packages policy and cocoon.
func (l *limits) declareTimeLimit() {
	declaring := types.NewPackage(policyPath, "policy")
	field := func(name string, kind types.BasicKind) *types.Var {
		return types.NewField(token.NoPos, declaring, name, types.Typ[kind], false)
	}
	l.limit = types.NewTypeName(token.NoPos, declaring, "TimeLimit", nil)
	fields := []*types.Var{
		field("Func", types.String), field("Limit", types.Int64), field("Interval", types.Int64), field("Reason", types.String),
	}
	named := types.NewNamed(l.limit, types.NewStruct(fields, nil), nil)
	declaring.Scope().Insert(l.limit)
	alias := types.NewPackage(cocoonPath, "cocoon")
	alias.Scope().Insert(types.NewTypeName(token.NoPos, alias, "TimeLimit", named))
	for _, p := range []*types.Package{declaring, alias} {
		p.MarkComplete()
		l.imported[p.Path()] = p
	}
}

// search adds the names in one package. Type-checking takes milliseconds, so search does it only
// for packages that contain the word.
func (l *limits) search(p listed) {
	var files []*ast.File
	found := false
	for _, file := range p.sources() {
		src, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		found = found || bytes.Contains(src, []byte("TimeLimit"))
		if tree, _ := parser.ParseFile(l.set, file, src, parser.SkipObjectResolution); tree != nil {
			files = append(files, tree)
		}
	}
	if !found {
		return
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	l.check(p.path(), files, info, false)
	for e, t := range info.Types {
		if lit, ok := e.(*ast.CompositeLit); ok && l.isLimit(t.Type) {
			l.add(lit, info)
		}
	}
}

// check type-checks a package as far as possible.
func (l *limits) check(path string, files []*ast.File, info *types.Info, declarations bool) *types.Package {
	config := types.Config{Importer: l, FakeImportC: true, IgnoreFuncBodies: declarations, Error: func(error) {}}
	checked, _ := config.Check(path, l.set, files, info)
	return checked
}

// Import implements types.Importer. Packages other than the program's own are empty.
func (l *limits) Import(imported string) (*types.Package, error) {
	if p := l.imported[imported]; p != nil {
		return p, nil
	}
	empty := types.NewPackage(imported, path.Base(imported))
	empty.MarkComplete()
	l.imported[imported] = empty // in case the package imports itself
	var files []*ast.File
	for _, file := range l.own[imported].sources() {
		if tree, _ := parser.ParseFile(l.set, file, nil, parser.SkipObjectResolution); tree != nil {
			files = append(files, tree)
		}
	}
	if len(files) > 0 {
		l.imported[imported] = l.check(imported, files, nil, true)
	}
	return l.imported[imported], nil
}

func (l *limits) isLimit(t types.Type) bool {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem() // an element of []*TimeLimit
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj() == l.limit
}

// add adds the name in a literal, if the name is constant.
func (l *limits) add(lit *ast.CompositeLit, info *types.Info) {
	for i, e := range lit.Elts {
		name := e
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); !ok || key.Name != "Func" {
				continue
			}
			name = kv.Value
		} else if i > 0 {
			return
		}
		if v := info.Types[name].Value; v != nil && v.Kind() == constant.String {
			l.names = append(l.names, constant.StringVal(v))
		}
	}
}

// isOwn reports whether the package belongs to the main module or a workspace module, or is named
// on the command line.
func (p listed) isOwn() bool { return !p.Standard && (!p.DepOnly || p.Module == nil || p.Module.Main) }

// sources returns the compiled Go files.
func (p listed) sources() []string { return p.join(".go", p.GoFiles, p.CgoFiles) }

// documents returns the embedded files that may be policy documents.
func (p listed) documents() []string {
	return slices.Concat(p.join(".yaml", p.EmbedFiles), p.join(".yml", p.EmbedFiles))
}

// join returns the paths of the files with the suffix. Files that the go command has generated do
// not have the suffix, or have an absolute path.
func (p listed) join(suffix string, lists ...[]string) (paths []string) {
	for _, name := range slices.Concat(lists...) {
		if strings.HasSuffix(name, suffix) && !filepath.IsAbs(name) {
			paths = append(paths, filepath.Join(p.Dir, name))
		}
	}
	return paths
}

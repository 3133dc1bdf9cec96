package instrument

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/types"
	"io"
	"os"
)

// check type-checks the package as far as possible. An expression without a type counts as the
// worst case: a call of anything, an endless loop. So check ignores errors; the compiler reports
// them with their positions.
func (r *rewriter) check() {
	var trees []*ast.File
	size := 0
	for _, f := range r.files {
		trees = append(trees, f.tree)
		size += len(f.src)
	}
	// The sizes are usual for so many bytes of source. Growing maps would take a third of the time.
	r.info = &types.Info{
		Types:      make(map[ast.Expr]types.TypeAndValue, size/16),
		Defs:       make(map[*ast.Ident]types.Object, size/150),
		Uses:       make(map[*ast.Ident]types.Object, size/24),
		Selections: make(map[*ast.SelectorExpr]*types.Selection, size/250),
	}
	conf := types.Config{
		Importer:    exports{importer.ForCompiler(r.set, "gc", r.open), r.pkg.ImportMap},
		Error:       func(error) {},
		FakeImportC: true,
		GoVersion:   r.pkg.GoVersion,
	}
	var err error
	r.types, err = conf.Check(r.pkg.Path, r.set, trees, r.info)
	r.mistaken = err != nil
	for _, name := range linkNames {
		if r.types.Scope().Lookup(name) != nil {
			r.exempt = "the package has a " + name + " of its own, and the polls need the language's"
		}
	}
}

func (r *rewriter) open(path string) (io.ReadCloser, error) {
	file, ok := r.pkg.Exports[path]
	if !ok {
		return nil, fmt.Errorf("no export data of %s", path)
	}
	return os.Open(file)
}

// exports imports packages from their export data, under the names that the sources use.
type exports struct {
	from  types.Importer
	paths map[string]string
}

func (e exports) Import(path string) (p *types.Package, err error) {
	defer func() {
		// export data of another toolchain: the importer does not return errors for all of it
		if v := recover(); v != nil {
			p, err = nil, fmt.Errorf("export data of %s: %v", path, v)
		}
	}()
	if real, ok := e.paths[path]; ok {
		path = real
	}
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	return e.from.Import(path)
}

// The kinds of calls, by their target.
type target int

const (
	own target = iota // into a function of this package
	// to unknown code, or code that may call back: an interface's method, a function value
	away
	outside // to another package that cannot call back, or that polls where it does
	builtin
	conversion
)

// callee finds the function that a call calls; c is set for own.
func (r *rewriter) callee(call *ast.CallExpr) (w target, c *code, f *types.Func) {
	fun := ast.Unparen(call.Fun)
	if tv, ok := r.info.Types[fun]; ok && tv.IsType() {
		return conversion, nil, nil
	} else if ok && tv.IsBuiltin() {
		return builtin, nil, nil
	}
	if lit, ok := fun.(*ast.FuncLit); ok {
		return own, r.literals[lit], nil
	}
	var receiver types.Type
	if sel, ok := fun.(*ast.SelectorExpr); ok {
		if s := r.info.Selections[sel]; s != nil {
			receiver = s.Recv()
		}
	}
	f, ok := r.object(fun).(*types.Func)
	if !ok {
		return away, nil, nil
	}
	f = f.Origin()
	if callsNothing(f) {
		return outside, nil, f
	}
	if recv := f.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
		return away, nil, nil
	}
	if c := r.declared[f]; c != nil {
		return own, c, f
	}
	if f.Pkg() == r.types || swift[f.Pkg().Path()] {
		return outside, nil, f // for example an assembly function
	}
	sig, ok := r.info.TypeOf(fun).(*types.Signature)
	if !ok {
		return away, nil, f
	}
	if polls := r.opt.Instrumented != nil && r.opt.Instrumented(f.Pkg().Path()); polls && !takesFunction(sig) {
		return outside, nil, f
	}
	if r.carries(receiver) || r.carries(sig.Params()) {
		return away, nil, f
	}
	return outside, nil, f
}

// takesFunction reports whether a function value is among the arguments: the callee may leave
// polling for it to the caller.
func takesFunction(sig *types.Signature) bool {
	for v := range sig.Params().Variables() {
		if _, ok := v.Type().Underlying().(*types.Signature); ok {
			return true
		}
	}
	return false
}

// object returns the object that the called expression names.
func (r *rewriter) object(fun ast.Expr) types.Object {
	switch fun := fun.(type) {
	case *ast.Ident:
		return r.info.Uses[fun]
	case *ast.SelectorExpr:
		return r.info.Uses[fun.Sel]
	case *ast.IndexExpr:
		return r.object(ast.Unparen(fun.X))
	case *ast.IndexListExpr:
		return r.object(ast.Unparen(fun.X))
	}
	return nil
}

// carries reports whether a value of the type may carry code that its receiver could call.
func (r *rewriter) carries(t types.Type) bool {
	if t == nil {
		return false
	}
	known, ok := r.carrier[t]
	if !ok {
		known = carries(t, map[types.Type]bool{})
		r.carrier[t] = known
	}
	return known
}

// carries keeps in seen the types under examination, and the types found to carry no code, apart
// from types under examination.
func carries(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	inside := func(t types.Type) bool { return carries(t, seen) }
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return t.Kind() == types.Invalid || t.Kind() == types.UnsafePointer
	case *types.Pointer:
		return inside(t.Elem())
	case *types.Slice:
		return inside(t.Elem())
	case *types.Array:
		return inside(t.Elem())
	case *types.Chan:
		return inside(t.Elem())
	case *types.Map:
		return inside(t.Key()) || inside(t.Elem())
	case *types.Tuple:
		for v := range t.Variables() {
			if inside(v.Type()) {
				return true
			}
		}
		return false
	case *types.Struct:
		for f := range t.Fields() {
			if inside(f.Type()) {
				return true
			}
		}
		return false
	case *types.Named:
		return inside(t.Underlying())
	}
	return true // functions, interfaces, type parameters
}

// constant returns the value of a constant integer.
func (r *rewriter) constant(e ast.Expr) (int64, bool) {
	if e == nil {
		return 0, false
	}
	tv := r.info.Types[e]
	if tv.Value == nil {
		return 0, false
	}
	return int64Of(tv.Value)
}

// plain reports whether ranging over e calls no function.
func (r *rewriter) plain(e ast.Expr) bool {
	t := r.info.TypeOf(e)
	if t == nil {
		return false
	}
	if _, generic := types.Unalias(t).(*types.TypeParam); generic {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Signature:
		return false
	case *types.Basic:
		return u.Kind() != types.Invalid
	}
	return true
}

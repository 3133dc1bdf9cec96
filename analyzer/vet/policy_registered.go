package vet

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/cocoon-go/cocoon/stubs"
)

// registered is what a package registers for its policies to refer to.
type registered struct {
	states    map[string][]stubs.Type // by name: what it may be; several where runtimes differ
	funcs     map[string]bool
	allStates bool // there are no others
	allFuncs  bool // there are no others
}

// stateTypes are the types that a state can have.
var stateTypes = []stubs.Type{stubs.Bool, stubs.Int, stubs.Float, stubs.Duration}

// findRegistered looks through a package for registrations of states and functions.
func findRegistered(pass *analysis.Pass, in *inspector.Inspector) registered {
	r := registered{states: map[string][]stubs.Type{}, funcs: map[string]bool{}, allStates: true, allFuncs: true}
	makes, calls := false, 0
	in.Preorder([]ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node) {
		call := n.(*ast.CallExpr)
		name := strings.TrimPrefix(calleeIn(pass.TypesInfo, call, cocoonPath), "Runtime.")
		switch name {
		case "New":
			makes = true
		case "RegisterState":
			states, all := statesIn(pass.TypesInfo, call.Args[0])
			r.allStates = r.allStates && all
			for name, types := range states {
				r.states[name] = slices.Compact(slices.Sorted(slices.Values(append(r.states[name], types...))))
			}
		case "RegisterSafeFunc":
			names, ok := funcNames(pass.TypesInfo, call.Args[0])
			r.allFuncs = r.allFuncs && ok
			for _, name := range names {
				r.funcs[name] = true
				r.funcs[name[strings.LastIndexByte(name, '.')+1:]] = true
			}
		case "LoadPolicies":
			r.allStates = false
		}
		if isRegistrar(name) {
			calls++
		}
	})
	mentions := 0 // of the functions that register, be they called or passed on
	for _, o := range pass.TypesInfo.Uses {
		if f, ok := o.(*types.Func); ok && isRegistrar(strings.TrimPrefix(nameIn(f, cocoonPath), "Runtime.")) {
			mentions++
		}
	}
	if alone := pass.Pkg.Name() == "main" || makes; !alone || mentions != calls || othersRegister(pass.Pkg) {
		r.allStates, r.allFuncs = false, false
	}
	return r
}

func isRegistrar(name string) bool {
	return name == "RegisterState" || name == "RegisterSafeFunc" || name == "LoadPolicies"
}

// othersRegister reports whether a package that p imports, itself or by others, uses Cocoon and is no part of it.
func othersRegister(p *types.Package) bool {
	seen := map[*types.Package]bool{}
	var visit func(p *types.Package) bool
	visit = func(p *types.Package) bool {
		if seen[p] || strings.HasPrefix(pathOf(p), modulePath+"/") {
			return false
		}
		seen[p] = true
		return uses(p, cocoonPath) || slices.ContainsFunc(p.Imports(), visit)
	}
	return slices.ContainsFunc(p.Imports(), visit)
}

// statesIn reads a literal of map[string]any: for each name the types that its value may have. It reports whether it has
// seen all names.
func statesIn(info *types.Info, e ast.Expr) (states map[string][]stubs.Type, all bool) {
	lit, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok {
		return nil, false
	}
	states, all = map[string][]stubs.Type{}, true
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return nil, false
		}
		name, ok := constantText(info, kv.Key)
		if !ok {
			all = false
			continue
		}
		states[name] = stateTypes
		if v, ok := zeroOf(info.TypeOf(kv.Value)); ok {
			if _, t, err := stubs.Word(v); err == nil {
				states[name] = []stubs.Type{t}
			}
		}
	}
	return states, all
}

// zeroOf returns a value of that type, as it would be in an interface, for the types that are likely to be states, or to be
// taken for some.
func zeroOf(t types.Type) (any, bool) {
	if isNamed(t, "time", "Duration") {
		return time.Duration(0), true
	}
	b, ok := types.Default(types.Unalias(t)).(*types.Basic)
	if !ok {
		return nil, false
	}
	v, ok := zeros[b.Kind()]
	return v, ok
}

var zeros = map[types.BasicKind]any{
	types.Bool: false, types.String: "", types.Float64: 0.0, types.Float32: float32(0), types.Complex128: 0i,
	types.Int: 0, types.Int64: int64(0), types.Int32: int32(0), types.Int16: int16(0), types.Int8: int8(0),
	types.Uint: uint(0), types.Uint64: uint64(0), types.Uint32: uint32(0), types.Uint16: uint16(0), types.Uint8: uint8(0),
}

// funcNames returns the full name under which policies may call what is registered: none for a mere name or a function
// with other parameters. It reports whether it can tell.
func funcNames(info *types.Info, e ast.Expr) (names []string, ok bool) {
	e = ast.Unparen(e)
	t := info.TypeOf(e)
	if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
		return nil, true
	}
	if lit, ok := e.(*ast.CompositeLit); ok && isNamed(t, cocoonPath, "Func") {
		name, ok := constantText(info, fieldsOf(info, lit)["Name"])
		return []string{name}, ok
	}
	signature, ok := types.Unalias(t).(*types.Signature)
	if !ok {
		return nil, false
	}
	if !callable(signature) {
		return nil, true
	}
	f := functionOf(info, e)
	if f == nil {
		return nil, false
	}
	return []string{runtimeName(f)}, true
}

// runtimeName is what cocoon.FuncName returns for the function.
func runtimeName(f *types.Func) string {
	pkg := pathOf(f.Pkg())
	if f.Pkg().Name() == "main" {
		pkg = "main"
	}
	recv := f.Signature().Recv()
	if recv == nil {
		return pkg + "." + f.Name()
	}
	t := types.TypeString(recv.Type(), func(*types.Package) string { return "" })
	if strings.HasPrefix(t, "*") {
		t = "(" + t + ")"
	}
	return pkg + "." + t + "." + f.Name()
}

// functionOf returns the declared function that an expression names.
func functionOf(info *types.Info, e ast.Expr) *types.Func {
	switch e := e.(type) {
	case *ast.Ident:
		f, _ := info.Uses[e].(*types.Func)
		return f
	case *ast.SelectorExpr:
		f, _ := info.Uses[e.Sel].(*types.Func)
		return f
	}
	return nil
}

// callable reports whether policies may call a function of that type: func() or func(context.Context).
func callable(s *types.Signature) bool {
	if s.Results().Len() > 0 || s.Variadic() || s.Params().Len() > 1 {
		return false
	}
	return s.Params().Len() == 0 || isNamed(s.Params().At(0).Type(), "context", "Context")
}

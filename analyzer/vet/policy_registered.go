package vet

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// registered holds the names that a package registers for its policies.
type registered struct {
	states    map[string][]shape // by name: what it may be; several where runtimes differ
	funcs     map[string]bool
	allStates bool // no other states exist
	allFuncs  bool // no other functions exist
}

// findRegistered looks through a package, but not its tests, for registrations of states and
// functions. It has seen all only if the runtime is the package's own, and nobody else is let
// register.
func findRegistered(pass *analysis.Pass, in *inspector.Inspector) registered {
	r := registered{states: map[string][]shape{}, funcs: map[string]bool{}, allStates: true, allFuncs: true}
	own, calls := pass.Pkg.Name() == "main", 0
	in.Preorder([]ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node) {
		call := n.(*ast.CallExpr)
		name := calleeIn(pass.TypesInfo, call, cocoonPath)
		if name == "" || inTest(pass, call.Pos()) {
			return
		}
		own = own || name == "New"
		if registrars[name] {
			calls++
			r.note(pass.TypesInfo, strings.TrimPrefix(name, "Runtime."), call.Args[0])
		}
	})
	if !own || calls != registrarsNamed(pass) || othersRegister(pass.Pkg) {
		r.allStates, r.allFuncs = false, false
	}
	return r
}

// registrars are the functions that register states and functions for policies.
var registrars = map[string]bool{
	"RegisterState": true, "RegisterSafeFunc": true, "Runtime.RegisterState": true, "Runtime.RegisterSafeFunc": true,
}

// registrarsNamed counts the uses of registrars, including uses without a call.
func registrarsNamed(pass *analysis.Pass) (count int) {
	for id, o := range pass.TypesInfo.Uses {
		if f, ok := o.(*types.Func); ok && registrars[nameIn(f, cocoonPath)] && !inTest(pass, id.Pos()) {
			count++
		}
	}
	return count
}

// note records what one call registers.
func (r *registered) note(info *types.Info, registrar string, arg ast.Expr) {
	switch registrar {
	case "RegisterState":
		states, all := statesIn(info, arg)
		r.allStates = r.allStates && all
		for name, shapes := range states {
			r.add(name, shapes)
		}
	case "RegisterSafeFunc":
		name, ok := funcName(info, arg)
		r.allFuncs = r.allFuncs && ok
		if name != "" {
			r.funcs[name] = true
			r.funcs[name[strings.LastIndexByte(name, '.')+1:]] = true
		}
	}
}

// add notes what a state may be.
func (r *registered) add(name string, shapes []shape) {
	for _, s := range shapes {
		if !slices.Contains(r.states[name], s) {
			r.states[name] = append(r.states[name], s)
		}
	}
}

// othersRegister reports whether p imports, directly or indirectly, a package that uses Cocoon and
// is not a part of Cocoon.
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

// statesIn reads a literal of map[string]any: for each name what the state may be. It reports
// whether it has seen all names.
func statesIn(info *types.Info, e ast.Expr) (states map[string][]shape, all bool) {
	lit, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok {
		return nil, false
	}
	states, all = map[string][]shape{}, true
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
		states[name] = shapesIn(info, kv.Value)
	}
	return states, all
}

// zeroOf returns a value of that type, as it would be in an interface. It knows the types that are
// valid for states, and types often mistaken for them.
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

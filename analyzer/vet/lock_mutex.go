package vet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// mutex is a lock as a function writes it: a variable, and the fields behind it. The readers' half
// of a sync.RWMutex is a lock of its own.
type mutex struct {
	root    types.Object
	path    string // "s.mu", as it is written
	readers bool
}

// method is the lock's method of that name: "s.mu.RLock" for Lock of the readers' half.
func (m mutex) method(name string) string {
	if m.readers {
		return m.path + ".R" + name
	}
	return m.path + "." + name
}

// lockOp is a call of Lock or Unlock.
type lockOp struct {
	mutex
	pos    token.Pos
	unlock bool
}

var lockMethods = map[string]lockOp{
	"Mutex.Lock":      {},
	"Mutex.Unlock":    {unlock: true},
	"RWMutex.Lock":    {},
	"RWMutex.Unlock":  {unlock: true},
	"RWMutex.RLock":   {mutex: mutex{readers: true}},
	"RWMutex.RUnlock": {mutex: mutex{readers: true}, unlock: true},
}

// lockOpOf returns what the call does to which mutex. It does not know mutexes behind an index, a
// call or a method value.
func lockOpOf(info *types.Info, call *ast.CallExpr) (op lockOp, ok bool) {
	if op, ok = lockMethods[calleeIn(info, call, "sync")]; !ok {
		return op, false
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return op, false
	}
	op.pos = call.Pos()
	op.root, op.path = lvalue(info, sel.X)
	return op, op.root != nil
}

// lvalue returns the variable in which an expression is, and how it is written; nil when it cannot
// be told.
func lvalue(info *types.Info, e ast.Expr) (root types.Object, path string) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := info.Uses[e].(*types.Var); ok {
			return v, e.Name
		}
	case *ast.StarExpr:
		return lvalue(info, e.X)
	case *ast.UnaryExpr:
		return lvalue(info, e.X) // &mu
	case *ast.SelectorExpr:
		if pkg, ok := e.X.(*ast.Ident); ok {
			if _, ok := info.Uses[pkg].(*types.PkgName); ok {
				return info.Uses[e.Sel], pkg.Name + "." + e.Sel.Name
			}
		}
		root, path = lvalue(info, e.X)
		return root, path + "." + e.Sel.Name
	}
	return nil, ""
}

// findReleasers returns the functions of the package that unlock what their caller has locked.
func findReleasers(pass *analysis.Pass, in *inspector.Inspector) map[*types.Func]bool {
	found := map[*types.Func]bool{}
	in.Preorder([]ast.Node{(*ast.FuncDecl)(nil)}, func(n ast.Node) {
		decl := n.(*ast.FuncDecl)
		f, _ := pass.TypesInfo.Defs[decl.Name].(*types.Func)
		locked := map[mutex]bool{}
		ast.Inspect(decl, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if op, ok := lockOpOf(pass.TypesInfo, call); ok {
					if op.unlock && !locked[op.mutex] {
						found[f] = true
					}
					locked[op.mutex] = true
				}
			}
			return true
		})
	})
	return found
}

// waits reports whether the function literals among the arguments of the call wait on a condition:
// that unlocks.
func waits(info *types.Info, call *ast.CallExpr) (found bool) {
	ast.Inspect(call, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			f, _ := typeutil.Callee(info, c).(*types.Func)
			found = found || f != nil && nameIn(f, "sync") == "Cond.Wait"
		}
		return !found
	})
	return found
}

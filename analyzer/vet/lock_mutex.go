package vet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// mutex is a lock as written in a function: a variable, and the fields selected from it. The read
// lock of a sync.RWMutex counts as a separate mutex.
type mutex struct {
	root    types.Object
	path    string // "s.mu", as written
	readers bool
}

// method returns the lock's method for name: "s.mu.RLock" for Lock of a read lock.
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

// lockOpOf returns the operation of the call on a mutex. It does not recognise mutexes reached
// through an index, a call or a method value.
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

// lvalue returns the variable at the root of an expression, and the expression's text. It returns
// nil if there is no such variable.
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

// findReleasers returns the functions of the package that unlock mutexes locked by their callers.
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

// waits reports whether a function literal among the call's arguments waits on a condition, which
// unlocks its mutex.
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

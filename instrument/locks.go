package instrument

import (
	"go/ast"
	"go/types"
)

// unlocks maps the names of what acquires a lock to what releases it. It is the name that counts,
// for any type: who wrote a lock of his own called it so, and a poll too few does no harm.
var unlocks = map[string]string{
	"Lock": "Unlock", "TryLock": "Unlock", "lock": "unlock", "tryLock": "unlock",
	"RLock": "RUnlock", "TryRLock": "RUnlock", "rlock": "runlock", "rLock": "rUnlock",
}

var isUnlock = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range unlocks {
		m[name] = true
	}
	return m
}()

// lockCall is an acquisition or a release.
type lockCall struct {
	node     *ast.CallExpr
	what     string // the lock's expression and what releases it
	name     string // of the function
	deferred bool
}

// lockCalls returns those of the body, and the releases in deferred literals, but for those of locks
// that the literal itself has acquired.
func lockCalls(body *ast.BlockStmt) (acquired, released []lockCall) {
	type deferredLock struct {
		by   *ast.DeferStmt
		what string
	}
	own := map[deferredLock]bool{}
	ast.PreorderStack(body, nil, func(n ast.Node, stack []ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			return useOf(lit, stack) == deferred // defer func() { mu.Unlock() }() releases this function's
		}
		node, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		lock, name := "", ""
		switch fun := ast.Unparen(node.Fun).(type) {
		case *ast.Ident:
			name = fun.Name
		case *ast.SelectorExpr:
			lock, name = types.ExprString(fun.X), fun.Sel.Name
		}
		c := lockCall{node: node, name: name}
		var by *ast.DeferStmt
		for _, around := range stack {
			if d, ok := around.(*ast.DeferStmt); ok {
				by, c.deferred = d, true
			}
		}
		switch {
		case unlocks[name] != "":
			c.what = lock + "." + unlocks[name]
			if c.deferred {
				own[deferredLock{by, c.what}] = true
			} else {
				acquired = append(acquired, c)
			}
		case isUnlock[name]:
			c.what = lock + "." + name
			if !own[deferredLock{by, c.what}] {
				released = append(released, c)
			}
		}
		return true
	})
	return acquired, released
}

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

func lockCalls(body *ast.BlockStmt) (acquired, released []lockCall) {
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
		for _, around := range stack {
			_, defers := around.(*ast.DeferStmt)
			c.deferred = c.deferred || defers
		}
		switch {
		case unlocks[name] != "" && !c.deferred:
			c.what = lock + "." + unlocks[name]
			acquired = append(acquired, c)
		case isUnlock[name]:
			c.what = lock + "." + name
			released = append(released, c)
		}
		return true
	})
	return acquired, released
}

package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
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
	what     string     // the lock's expression and what releases it
	lists    []ast.Node // the blocks and clauses around it, innermost last
	loop     ast.Node   // the outermost loop around it, or nil
	deferred bool
}

// heldIn returns where in the body locks are held, as far as the text tells, and rather too much:
// from an acquisition to the release of the same lock in the same block or one around it; a release
// deeper inside is an early exit. Without such a release, to the end of the function, and from the
// beginning of the outermost loop. What is released before it was acquired was held from the
// beginning, as it is where the release is deferred.
func heldIn(body *ast.BlockStmt) (held []span) {
	acquired, released := lockCalls(body)
	for _, a := range acquired {
		s := span{a.node.Pos() + 1, body.End()} // just before it there may be a poll
		i := slices.IndexFunc(released, func(u lockCall) bool {
			return u.what == a.what && u.node.Pos() > a.node.Pos() && !u.deferred && slices.Contains(a.lists, u.lists[len(u.lists)-1])
		})
		if i >= 0 {
			s.to = released[i].node.Pos()
		} else if a.loop != nil {
			s.from = a.loop.Pos() + 1
		}
		held = append(held, s)
	}
	for _, u := range released {
		before := slices.ContainsFunc(acquired, func(a lockCall) bool { return a.what == u.what && a.node.Pos() < u.node.Pos() })
		s := span{token.NoPos, token.NoPos}
		if !before {
			s = span{body.Pos(), u.node.Pos()}
		}
		if u.deferred {
			s.to = body.End()
			if before {
				s.from = u.node.Pos()
			}
		}
		if s.to.IsValid() {
			held = append(held, s)
		}
	}
	return held
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
		c := lockCall{node: node}
		for _, around := range stack {
			switch around.(type) {
			case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
				c.lists = append(c.lists, around)
			case *ast.ForStmt, *ast.RangeStmt:
				if c.loop == nil {
					c.loop = around
				}
			case *ast.DeferStmt:
				c.deferred = true
			}
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

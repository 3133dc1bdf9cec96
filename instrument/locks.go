package instrument

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
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

// pairs are the names of what acquires and releases semaphores and the like, which are also held
// for as long as a request takes. So only those count that a function acquires and releases itself,
// not by a deferred call: a deferred call also runs when a throw unwinds.
var pairs = map[string]string{"Acquire": "Release", "acquire": "release", "Enter": "Leave", "enter": "leave"}

// lockCall is an acquisition or a release.
type lockCall struct {
	node     ast.Node // a call, or a channel's statement
	what     string   // the lock's expression and what releases it
	acquires bool
	tries    bool // it is a condition whether it has acquired
	paired   bool // see pairs
	deferred bool
}

// lockCalls returns those of the body, and the releases in deferred literals, but for those of
// locks that the literal itself has acquired; of says what a node does, and left is a semaphore that counts although it is not
// released.
func lockCalls(body *ast.BlockStmt, of lockCallOfNode, left string) []lockCall {
	all := allLockCalls(body, of)
	return slices.DeleteFunc(slices.Clone(all), func(c lockCall) bool { return c.paired && c.what != left && !isPaired(c.what, all) })
}

// lockCallOfNode is lockCallOf, or that of a package, which knows its functions.
type lockCallOfNode func(n ast.Node) (c lockCall, ok bool)

// allLockCalls is lockCalls with the semaphores that do not count.
func allLockCalls(body *ast.BlockStmt, of lockCallOfNode) (all []lockCall) {
	type deferredLock struct {
		by   *ast.DeferStmt
		what string
	}
	own := map[deferredLock]bool{}
	ast.PreorderStack(body, nil, func(n ast.Node, stack []ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			return useOf(lit, stack) == deferred // defer func() { mu.Unlock() }() releases this function's
		}
		c, ok := of(n)
		if !ok {
			return true
		}
		var by *ast.DeferStmt
		for _, around := range stack {
			if d, ok := around.(*ast.DeferStmt); ok && ast.Unparen(d.Call.Fun) != n {
				by, c.deferred = d, true
			}
		}
		switch key := (deferredLock{by, c.what}); {
		case c.deferred && c.acquires:
			own[key] = true
		case !own[key]:
			all = append(all, c)
		}
		return true
	})
	slices.SortStableFunc(all, func(a, b lockCall) int {
		return cmp.Or(cmp.Compare(a.node.Pos(), b.node.Pos()), cmp.Compare(a.node.End(), b.node.End())) // acquire()() acquires first
	})
	return all
}

// lockCallOf returns what a node does to a lock, if it does.
func lockCallOf(n ast.Node) (c lockCall, ok bool) {
	switch n := n.(type) {
	case *ast.SendStmt: // semaphore <- struct{}{}
		value, ok := n.Value.(*ast.CompositeLit)
		return lockCall{node: n, what: "<-" + types.ExprString(n.Chan), acquires: true, paired: true}, ok && len(value.Elts) == 0
	case *ast.ExprStmt: // <-semaphore
		receive, ok := ast.Unparen(n.X).(*ast.UnaryExpr)
		if !ok || receive.Op != token.ARROW {
			return c, false
		}
		return lockCall{node: n, what: "<-" + types.ExprString(receive.X), paired: true}, true
	case *ast.CallExpr:
		lock, name := "", ""
		switch fun := ast.Unparen(n.Fun).(type) {
		case *ast.Ident:
			name = fun.Name
		case *ast.SelectorExpr:
			lock, name = types.ExprString(fun.X)+".", fun.Sel.Name
		}
		switch release := cmp.Or(unlocks[name], pairs[name]); {
		case release != "":
			return lockCall{node: n, what: lock + release, acquires: true, tries: strings.HasPrefix(strings.ToLower(name), "try"), paired: pairs[name] != ""}, true
		case isUnlock[name]:
			return lockCall{node: n, what: lock + name}, true
		case slices.Contains(slices.Collect(maps.Values(pairs)), name):
			return lockCall{node: n, what: lock + name, paired: true}, true
		}
	}
	return c, false
}

// isPaired reports whether a function acquires and releases, and no deferred call does.
func isPaired(what string, all []lockCall) bool {
	first := slices.IndexFunc(all, func(c lockCall) bool { return c.what == what })
	return first >= 0 && all[first].acquires &&
		slices.ContainsFunc(all, func(c lockCall) bool { return c.what == what && !c.acquires }) &&
		!slices.ContainsFunc(all, func(c lockCall) bool { return c.what == what && c.deferred })
}

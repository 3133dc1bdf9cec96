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

// isRead has the names of what releases a lock under which things are only read.
var isRead = map[string]bool{"RUnlock": true, "runlock": true, "rUnlock": true}

// pairs are the names of what acquires and releases semaphores and the like, which are also held
// for as long as a request takes. So only those count that a function acquires and releases itself,
// not by a deferred call: a deferred call also runs when a throw unwinds.
var pairs = map[string]string{"Acquire": "Release", "acquire": "release", "Enter": "Leave", "enter": "leave"}

// lockCall is an acquisition or a release.
type lockCall struct {
	node     ast.Node // a call, or a channel's statement
	expr     ast.Expr // the lock; nil of some
	lock     string   // as a text
	release  string   // the name of what releases it
	what     string   // both
	acquires bool
	tries    bool // it is a condition whether it has acquired
	paired   bool // see pairs
	deferred bool
	unsure   bool // it is deferred, and may not be made: in a branch of a literal
}

// lockCalls returns those of the body, and the releases in deferred literals, but for those of
// locks that the literal itself has acquired.
func lockCalls(body *ast.BlockStmt) (all []lockCall) {
	type deferredLock struct {
		by   *ast.DeferStmt
		what string
	}
	own := map[deferredLock]bool{}
	ast.PreorderStack(body, nil, func(n ast.Node, stack []ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			return useOf(lit, stack) == deferred // defer func() { mu.Unlock() }() releases this function's
		}
		c, ok := lockCallOf(n)
		if !ok {
			return true
		}
		var by *ast.DeferStmt
		for _, around := range stack {
			if d, ok := around.(*ast.DeferStmt); ok {
				by, c.deferred = d, true
				c.unsure = !isSure(n, d)
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
	return slices.DeleteFunc(slices.Clone(all), func(c lockCall) bool { return c.paired && !isPaired(c.what, all) })
}

// isSure reports whether a deferred statement makes the call in any case: it is the call, or that
// of a literal in which nothing comes before that might leave.
func isSure(call ast.Node, by *ast.DeferStmt) bool {
	if by.Call == call {
		return true
	}
	lit, ok := ast.Unparen(by.Call.Fun).(*ast.FuncLit)
	if !ok {
		return false
	}
	for _, s := range lit.Body.List {
		if e, ok := s.(*ast.ExprStmt); ok && (e == call || ast.Unparen(e.X) == call) {
			return true
		}
		leaves := false
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ReturnStmt, *ast.BranchStmt:
				leaves = true
			case *ast.CallExpr:
				id, ok := n.Fun.(*ast.Ident)
				leaves = leaves || ok && id.Name == "panic"
			}
			return true
		})
		if leaves {
			return false
		}
	}
	return false
}

// lockCallOf returns what a node does to a lock, if it does.
func lockCallOf(n ast.Node) (c lockCall, ok bool) {
	switch n := n.(type) {
	case *ast.SendStmt: // semaphore <- struct{}{}
		value, ok := n.Value.(*ast.CompositeLit)
		return semaphore(n, n.Chan, true), ok && len(value.Elts) == 0
	case *ast.ExprStmt: // <-semaphore
		receive, ok := ast.Unparen(n.X).(*ast.UnaryExpr)
		if !ok || receive.Op != token.ARROW {
			return c, false
		}
		return semaphore(n, receive.X, false), true
	case *ast.CallExpr:
		return methodOf(n)
	}
	return c, false
}

func semaphore(n ast.Node, channel ast.Expr, acquires bool) lockCall {
	name := types.ExprString(channel)
	return lockCall{node: n, lock: name, what: "<-" + name, acquires: acquires, paired: true}
}

// methodOf returns what a call does to a lock by its name, if it does.
func methodOf(n *ast.CallExpr) (c lockCall, ok bool) {
	c.node = n
	name, prefix := "", ""
	switch fun := ast.Unparen(n.Fun).(type) {
	case *ast.Ident:
		name = fun.Name
		c.lock = name
	case *ast.SelectorExpr:
		name = fun.Sel.Name
		c.expr, c.lock = fun.X, types.ExprString(fun.X)
		prefix = c.lock + "."
	}
	switch c.release = cmp.Or(unlocks[name], pairs[name]); {
	case c.release != "":
		c.acquires, c.tries, c.paired = true, strings.HasPrefix(strings.ToLower(name), "try"), pairs[name] != ""
	case isUnlock[name]:
		c.release = name
	case slices.Contains(slices.Collect(maps.Values(pairs)), name):
		c.release, c.paired = name, true
	default:
		return c, false
	}
	c.what = prefix + c.release
	return c, true
}

// isPaired reports whether a function acquires and releases, and no deferred call does.
func isPaired(what string, all []lockCall) bool {
	first := slices.IndexFunc(all, func(c lockCall) bool { return c.what == what })
	return first >= 0 && all[first].acquires &&
		slices.ContainsFunc(all, func(c lockCall) bool { return c.what == what && !c.acquires }) &&
		!slices.ContainsFunc(all, func(c lockCall) bool { return c.what == what && c.deferred })
}

package instrument

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// unlocks maps the names of operations that acquire a lock to the names that release it. Only the
// name counts, for any type: user-defined locks have the same names, and a missing poll does no
// harm.
var unlocks = map[string]string{
	"Lock": "Unlock", "TryLock": "Unlock", "lock": "unlock", "tryLock": "unlock",
	"RLock": "RUnlock", "TryRLock": "RUnlock", "rlock": "runlock", "rLock": "rUnlock",
}

var isUnlock = valuesOf(unlocks)

// isRead contains the names of operations that release a lock for reading.
var isRead = map[string]bool{"RUnlock": true, "runlock": true, "rUnlock": true}

// pairs maps names that acquire semaphores and similar resources to names that release them. Such a
// resource may also be held as long as a request takes. So a pair counts only if the function both
// acquires and releases, and does not defer the release: a deferred call also runs during a throw.
var pairs = map[string]string{"Acquire": "Release", "acquire": "release", "Enter": "Leave", "enter": "leave"}

var endsPair = valuesOf(pairs)

func valuesOf(m map[string]string) map[string]bool {
	set := map[string]bool{}
	for _, name := range m {
		set[name] = true
	}
	return set
}

// lockCall is an acquisition or a release.
type lockCall struct {
	node     ast.Node // a call, or a channel operation
	expr     ast.Expr // the lock; nil if unknown
	lock     string   // the expression's text
	release  string   // the name of the operation that releases it
	what     string   // both
	acquires bool
	tries    bool // it is a condition that says whether the lock was acquired
	failsIf  bool // the value of this condition if it was not
	paired   bool // see pairs
	deferred bool
	unsure   bool // it is deferred, and may not happen: it is in a branch of a literal
}

// lockCalls returns the acquisitions and releases in a body, and the releases in deferred literals,
// except for locks that the literal itself has acquired. nodes are the body's, and of returns the
// effect of a node. left names a semaphore that counts even if the body does not release it.
func lockCalls(nodes []lockNode, of lockCallOfNode, left string) []lockCall {
	all := allLockCalls(nodes, of)
	return slices.DeleteFunc(slices.Clone(all), func(c lockCall) bool { return c.paired && c.what != left && !isPaired(c.what, all) })
}

// lockCallOfNode is lockCallOf, or the method of the same name, which knows the package's
// functions.
type lockCallOfNode func(n ast.Node) (c lockCall, ok bool)

// lockNode is a node that may acquire or release a lock: a call, or a channel operation.
type lockNode struct {
	node ast.Node
	by   *ast.DeferStmt // the statement that defers the node; nil if none does
}

// lockNodes returns the nodes of a function's body, without its literals except deferred ones.
func (r *rewriter) lockNodes(body *ast.BlockStmt) []lockNode {
	nodes, ok := r.locking[body]
	if !ok {
		nodes = lockNodesIn(body)
		r.locking[body] = nodes
	}
	return nodes
}

func lockNodesIn(body *ast.BlockStmt) (all []lockNode) {
	ast.PreorderStack(body, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			// defer func() { mu.Unlock() }() releases this function's
			return useOf(n, stack) == deferred
		case *ast.SendStmt, *ast.ExprStmt, *ast.CallExpr:
			node := lockNode{node: n}
			for _, around := range stack {
				if d, ok := around.(*ast.DeferStmt); ok && ast.Unparen(d.Call.Fun) != n {
					node.by = d
				}
			}
			all = append(all, node)
		}
		return true
	})
	return all
}

// allLockCalls is lockCalls plus the semaphores that lockCalls omits.
func allLockCalls(nodes []lockNode, of lockCallOfNode) (all []lockCall) {
	type deferredLock struct {
		by   *ast.DeferStmt
		what string
	}
	var own map[deferredLock]bool
	for _, n := range nodes {
		c, ok := of(n.node)
		if !ok {
			continue
		}
		if n.by != nil {
			c.deferred, c.unsure = true, !isSure(n.node, n.by)
		}
		switch key := (deferredLock{n.by, c.what}); {
		case c.deferred && c.acquires:
			if own == nil {
				own = map[deferredLock]bool{}
			}
			own[key] = true
		case !own[key]:
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b lockCall) int {
		// acquire()() acquires first
		return cmp.Or(cmp.Compare(a.node.Pos(), b.node.Pos()), cmp.Compare(a.node.End(), b.node.End()))
	})
	return all
}

// isSure reports whether a deferred statement always makes the call: it is the call, or calls a
// literal in which no earlier statement may leave.
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

// lockCallOf returns the effect of a node on a lock, if it has one.
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
	return lockCall{node: n, expr: channel, lock: name, what: "<-" + name, acquires: acquires, paired: true}
}

// methodOf returns the effect of a call on a lock by its name, if it has one. It looks at each call
// of a package, so it builds the lock's text last.
func methodOf(n *ast.CallExpr) (c lockCall, ok bool) {
	name := ""
	fun := ast.Unparen(n.Fun)
	switch fun := fun.(type) {
	case *ast.Ident:
		name = fun.Name
	case *ast.SelectorExpr:
		name = fun.Sel.Name
	}
	switch c.release = cmp.Or(unlocks[name], pairs[name]); {
	case c.release != "":
		c.acquires, c.tries, c.paired = true, strings.HasPrefix(strings.ToLower(name), "try"), pairs[name] != ""
	case isUnlock[name]:
		c.release = name
	case endsPair[name]:
		c.release, c.paired = name, true
	default:
		return lockCall{}, false
	}
	c.node, c.lock, c.what = n, name, c.release
	if selector, ok := fun.(*ast.SelectorExpr); ok {
		c.expr, c.lock = selector.X, types.ExprString(selector.X)
		c.what = c.lock + "." + c.release
	}
	return c, true
}

// isPaired reports whether a function acquires and releases the resource without a deferred call.
func isPaired(what string, all []lockCall) bool {
	first := slices.IndexFunc(all, func(c lockCall) bool { return c.what == what })
	return first >= 0 && all[first].acquires &&
		slices.ContainsFunc(all, func(c lockCall) bool { return c.what == what && !c.acquires }) &&
		!slices.ContainsFunc(all, func(c lockCall) bool { return c.what == what && c.deferred })
}

package instrument

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// A function may acquire a lock that another releases: its caller holds the lock in between. So
// calls of such functions of the package count as what they do to the lock.

// passing is what a function does to a lock of its receiver, a parameter or the package.
type passing struct {
	param  int    // of the list of parameters, or one of these:
	path   string // from there to the lock, such as ".mu"
	form   string // what names the lock and its release, with a mark where the lock's expression is
	paired bool   // see pairs
}

const (
	ofReceiver = -1
	ofPackage  = -2
	mark       = "\x00"
)

// passes is what calls of a function do to locks.
type passes struct {
	leaves, frees *passing // it returns with the lock held; it releases what a caller acquired
	releaser      int      // the result that releases what it leaves, or -1
	what, text    string   // what names the lock it leaves, and the lock's expression, in the function
}

// passLocks finds the functions that acquire or release locks for others, and reports whether there
// are any.
func (r *rewriter) passLocks() bool {
	for range 3 { // functions that call such functions may be such as well
		known := len(r.passing)
		for _, c := range r.codes {
			if c.decl == nil {
				continue
			}
			if obj := r.info.Defs[c.decl.Name]; obj != nil && r.passing[obj] == nil {
				if p := r.passesOf(c); p != nil {
					r.passing[obj] = p
				}
			}
		}
		if len(r.passing) == known {
			break
		}
	}
	return len(r.passing) > 0
}

func (r *rewriter) passesOf(c *code) *passes {
	all := allLockCalls(c.body, r.lockCallOf)
	for _, call := range all {
		if slices.ContainsFunc(all, func(other lockCall) bool { return other.what == call.what && other.acquires != call.acquires }) ||
			call.acquires && call.deferred || r.handsOn(c, call.what) {
			continue
		}
		how := r.relative(c, call)
		switch {
		case how == nil:
		case !call.acquires:
			return &passes{frees: how, releaser: -1}
		case !call.paired || r.isReleased(call):
			return &passes{leaves: how, releaser: r.releaserOf(c, call.what), what: call.what, text: types.ExprString(lockedExpr(call.node))}
		}
	}
	return nil
}

// leftBy returns what names the lock that a function leaves held, or "".
func (r *rewriter) leftBy(c *code) string {
	if c.decl == nil {
		return ""
	}
	if p := r.passing[r.info.Defs[c.decl.Name]]; p != nil && p.leaves != nil {
		return p.what
	}
	return ""
}

// lockedExpr returns the lock's expression in a node that acquires or releases it, or nil.
func lockedExpr(n ast.Node) ast.Expr {
	switch n := n.(type) {
	case *ast.SendStmt:
		return n.Chan
	case *ast.ExprStmt:
		return ast.Unparen(n.X).(*ast.UnaryExpr).X
	case *ast.CallExpr:
		if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok {
			return sel.X
		}
	}
	return nil
}

// relative returns the lock of a call as seen from outside of the function, or nil if it is not
// seen there.
func (r *rewriter) relative(c *code, call lockCall) *passing {
	on := lockedExpr(call.node)
	if _, byName := lockCallOf(call.node); on == nil || !byName {
		return nil
	}
	text := types.ExprString(on)
	if strings.ContainsAny(text, "[(") {
		return nil
	}
	first, _, _ := strings.Cut(text, ".")
	p := &passing{param: ofPackage, path: text, form: strings.Replace(call.what, text, mark, 1), paired: call.paired}
	v, _ := r.root(on)
	switch {
	case v == nil || v.Name() != first:
		return nil
	case v.Parent() == r.types.Scope():
		return p
	}
	p.path = text[len(first):]
	if c.decl.Recv != nil && r.isIn(c.decl.Recv, v) == 0 {
		p.param = ofReceiver
		return p
	}
	p.param = r.isIn(c.typ.Params, v)
	if p.param < 0 {
		return nil
	}
	return p
}

// isIn returns which of the fields a variable is, or -1.
func (r *rewriter) isIn(fields *ast.FieldList, v types.Object) int {
	i := 0
	for _, f := range fields.List {
		for _, name := range f.Names {
			if r.info.Defs[name] == v {
				return i
			}
			i++
		}
		if len(f.Names) == 0 {
			i++
		}
	}
	return -1
}

// handsOn reports whether a goroutine that the function starts releases the lock.
func (r *rewriter) handsOn(c *code, what string) (found bool) {
	ast.Inspect(c.body, func(n ast.Node) bool {
		if g, ok := n.(*ast.GoStmt); ok {
			if lit, ok := ast.Unparen(g.Call.Fun).(*ast.FuncLit); ok {
				found = found || frees(lit, what)
			}
		}
		return !found
	})
	return found
}

func frees(lit *ast.FuncLit, what string) bool {
	return slices.ContainsFunc(allLockCalls(lit.Body, lockCallOf), func(c lockCall) bool { return !c.acquires && c.what == what })
}

// releaserOf returns the result of a function that releases the lock which the function leaves
// held: its first function, if the lock is released by a literal, or by a method that is returned.
func (r *rewriter) releaserOf(c *code, what string) int {
	released := false
	ast.PreorderStack(c.body, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			released = released || useOf(n, stack) == kept && frees(n, what)
		case *ast.ReturnStmt:
			released = released || slices.ContainsFunc(n.Results, func(e ast.Expr) bool { return types.ExprString(e) == what })
		}
		return true
	})
	results := c.typ.Results
	if !released || results == nil {
		return -1
	}
	i := 0
	for _, f := range results.List {
		if t := r.info.TypeOf(f.Type); t != nil {
			if _, ok := t.Underlying().(*types.Signature); ok {
				return i
			}
		}
		i += max(len(f.Names), 1)
	}
	return -1
}

// isReleased reports whether the package releases a semaphore, by an expression that names the same
// field or variable.
func (r *rewriter) isReleased(acquired lockCall) bool {
	at := r.object(ast.Unparen(lockedExpr(acquired.node)))
	return at != nil && slices.ContainsFunc(r.codes, func(c *code) bool {
		return slices.ContainsFunc(allLockCalls(c.body, lockCallOf), func(call lockCall) bool {
			on := lockedExpr(call.node)
			return !call.acquires && call.paired && on != nil && r.object(ast.Unparen(on)) == at
		})
	})
}

// lockCallOf returns what a node does to a lock, by its name or because it calls a function that
// acquires or releases one for its callers.
func (r *rewriter) lockCallOf(n ast.Node) (c lockCall, ok bool) {
	call, isCall := n.(*ast.CallExpr)
	if isCall {
		if id, isName := ast.Unparen(call.Fun).(*ast.Ident); isName {
			if c, ok = r.releasers[r.info.Uses[id]]; ok {
				c.node = n
				return c, true
			}
		}
	}
	if c, ok = lockCallOf(n); ok && !c.paired || !isCall || len(r.passing) == 0 {
		return c, ok
	}
	if by, found := r.passedCall(call); found {
		return by, true
	}
	return c, ok
}

// passedCall returns what a call does to a lock for its caller.
func (r *rewriter) passedCall(call *ast.CallExpr) (c lockCall, ok bool) {
	if inner, ok := ast.Unparen(call.Fun).(*ast.CallExpr); ok { // acquire()()
		p, c := r.passedBy(inner)
		c.node = call
		return c, p != nil && p.releaser == 0
	}
	p, c := r.passedBy(call)
	c.acquires = p != nil && p.leaves != nil
	return c, p != nil
}

// passedBy returns what the called function does to a lock for its caller, and the lock as the
// caller names it.
func (r *rewriter) passedBy(call *ast.CallExpr) (p *passes, c lockCall) {
	f, ok := r.object(ast.Unparen(call.Fun)).(*types.Func)
	if !ok {
		return nil, c
	}
	if p = r.passing[f.Origin()]; p == nil {
		return nil, c
	}
	how := cmp.Or(p.leaves, p.frees)
	c = lockCall{node: call, lock: how.path, paired: how.paired}
	switch sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr); {
	case how.param == ofPackage:
	case how.param == ofReceiver && isSel:
		c.lock = types.ExprString(sel.X) + how.path
	case how.param >= 0 && how.param < len(call.Args):
		c.lock = strings.TrimPrefix(types.ExprString(call.Args[how.param]), "&") + how.path
	default:
		return nil, c
	}
	c.what = strings.Replace(how.form, mark, c.lock, 1)
	c.release, _ = strings.CutPrefix(how.form, mark+".")
	return p, c
}

// findReleasers finds the variables that have got functions which release locks.
func (r *rewriter) findReleasers() {
	for _, f := range r.files {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			assign, ok := n.(*ast.AssignStmt)
			if !ok || len(assign.Rhs) != 1 {
				return true
			}
			call, ok := ast.Unparen(assign.Rhs[0]).(*ast.CallExpr)
			if !ok {
				return true
			}
			p, release := r.passedBy(call)
			if p == nil || p.releaser < 0 || p.releaser >= len(assign.Lhs) {
				return true
			}
			if id, ok := assign.Lhs[p.releaser].(*ast.Ident); ok {
				v := r.info.Defs[id]
				if v == nil {
					v = r.info.Uses[id]
				}
				if v != nil {
					r.releasers[v] = release
				}
			}
			return true
		})
	}
}

// handedOver returns the gap of a function by which code of other packages acquires a lock: the
// text there does not show that it is held.
func (r *rewriter) handedOver(c *code) (g Gap, ok bool) {
	if c.decl == nil || !c.decl.Name.IsExported() || unlocks[c.decl.Name.Name] != "" || pairs[c.decl.Name.Name] != "" {
		return g, false
	}
	p := r.passing[r.info.Defs[c.decl.Name]]
	if p == nil || p.leaves == nil {
		return g, false
	}
	return Gap{Kind: GapHeld, Length: Unbounded, Why: fmt.Sprintf("returns with %s held, which callers in other packages do not show", p.text)}, true
}

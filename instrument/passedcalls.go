package instrument

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// lockCallOf returns the effect of a node on a lock, by its name or because it calls a function
// that acquires or releases a lock for its callers.
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
	if c, ok = r.byText(n); ok && !c.paired || !isCall || len(r.passing) == 0 {
		return c, ok
	}
	if by, found := r.passedCall(call); found {
		return by, true
	}
	return c, ok
}

// passedCall returns the effect of a call on a lock of its caller.
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

// passedBy returns the effect of the called function on a lock for its caller, and the lock with
// the caller's name for it.
func (r *rewriter) passedBy(call *ast.CallExpr) (p *passes, c lockCall) {
	f, ok := r.object(ast.Unparen(call.Fun)).(*types.Func)
	if !ok {
		return nil, c
	}
	if p = r.passing[f.Origin()]; p == nil {
		return nil, c
	}
	how := cmp.Or(p.leaves, p.frees)
	c = lockCall{node: call, lock: how.path, paired: how.paired, tries: p.tries, failsIf: p.failsIf}
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

// findReleasers finds the variables that contain functions which release locks.
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

// handedOver returns the gap of a function through which code of other packages acquires a lock,
// because the text of that code does not show the lock.
func (r *rewriter) handedOver(c *code) (g Gap, ok bool) {
	if c.decl == nil || !c.decl.Name.IsExported() || unlocks[c.decl.Name.Name] != "" || pairs[c.decl.Name.Name] != "" {
		return g, false
	}
	p := r.passing[r.info.Defs[c.decl.Name]]
	if p == nil || p.leaves == nil || isAtomic(p.what) {
		return g, false
	}
	return Gap{Kind: GapHeld, Length: Unbounded, Why: fmt.Sprintf("returns with %s held, which callers in other packages do not show", p.text)}, true
}

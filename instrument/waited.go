package instrument

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
)

// A function may start goroutines and wait for them without a deferred call:
//
//	for _, part := range parts {
//		wg.Go(func() { render(part, buf) })
//	}
//	wg.Wait()
//
// They use what the function and its callers own. Nothing is thrown between the start and the wait:
// after a throw there the goroutines would work on, while deferred calls release what they use. The
// same applies between wg.Add(1) and wg.Done(): after a throw, other goroutines would never stop
// waiting. It also applies between a request and its answer:
//
//	q := &request{answer: make(chan int)}
//	requests <- q
//	prepare()
//	n := <-q.answer
//
// After a throw in prepare, the goroutine that serves the requests would wait without end.

// awaiting is the object of a wait: a group of goroutines, or a channel that a goroutine has.
type awaiting struct {
	of   types.Object // the variable at which the expression begins
	path string       // the expression
}

// fanOut contains the nodes that matter for one awaiting.
type fanOut struct {
	awaiting
	group  bool // it is not a channel
	starts []ast.Node
	keeps  []ast.Node        // starts after which what was started before is still awaited
	waits  []ast.Node        // calls, including Done, and receives
	ends   map[ast.Stmt]bool // loops that wait: until they are done
	cases  map[ast.Stmt]bool // clauses of select statements
	some   bool              // a wait on one path is enough, if it comes before another start
	asks   bool              // a wait on one path is enough, because each start is a request
	// it is a resource, and the caller will defer its release, see entrusted.go
	entrusted bool
}

// fanOuts returns the goroutines that the function both starts and waits for, other than by a
// deferred call.
func (r *rewriter) fanOuts(c *code) []*fanOut {
	all := map[awaiting]*fanOut{}
	deferred := map[awaiting]bool{}
	c.walk(func(n ast.Node, stack []ast.Node) {
		on, group := r.waitsFor(c, n)
		if on == nil {
			return
		}
		of, _ := r.root(on)
		if of == nil {
			return
		}
		a := awaiting{of, types.ExprString(on)}
		if isDeferred(stack) {
			deferred[a] = true
			return
		}
		f := all[a]
		if f == nil {
			f = &fanOut{awaiting: a, group: group, ends: map[ast.Stmt]bool{}, cases: map[ast.Stmt]bool{}}
			f.starts = r.startsOf(c, f)
			f.asks = !slices.ContainsFunc(f.starts, func(n ast.Node) bool { _, sends := n.(*ast.SendStmt); return !sends })
			all[a] = f
		}
		f.add(n, stack)
	})
	for a, f := range all {
		if deferred[a] || len(f.starts) == 0 || r.waitsDeferred(c, f) {
			delete(all, a)
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *fanOut) int {
		return cmp.Or(cmp.Compare(a.of.Pos(), b.of.Pos()), cmp.Compare(a.path, b.path))
	})
}

// waitsFor returns the group or the channel that a node waits for, or nil.
func (r *rewriter) waitsFor(c *code, n ast.Node) (on ast.Expr, group bool) {
	switch n := n.(type) {
	case *ast.CallExpr:
		if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok && (sel.Sel.Name == "Wait" || sel.Sel.Name == "Done") && r.isGroup(sel.X) {
			return sel.X, true
		}
	case *ast.UnaryExpr:
		if n.Op == token.ARROW && (r.isLocal(c, n.X) || r.isFieldOfLocal(c, n.X)) {
			return n.X, false
		}
	case *ast.RangeStmt:
		if isChannel(r.info.TypeOf(n.X)) && r.isLocal(c, n.X) && r.mayClose(c, r.first(n.X)) {
			return n.X, false
		}
	}
	return nil, false
}

// isGroup reports whether a value has the methods of a group of goroutines: Go, or Add.
func (r *rewriter) isGroup(e ast.Expr) bool {
	t := r.info.TypeOf(e)
	if t == nil {
		return false
	}
	for _, name := range []string{"Go", "Add"} {
		if m, _, _ := types.LookupFieldOrMethod(t, true, r.types, name); m != nil {
			return true
		}
	}
	return false
}

// isLocal reports whether an expression is a variable of the function, other than a parameter.
func (r *rewriter) isLocal(c *code, e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := r.info.Uses[id].(*types.Var)
	return ok && c.body.Pos() <= v.Pos() && v.Pos() < c.body.End()
}

// isFieldOfLocal reports whether an expression is a field of a variable of the function, other than
// a parameter.
func (r *rewriter) isFieldOfLocal(c *code, e ast.Expr) bool {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	return ok && r.isLocal(c, sel.X)
}

// add adds a wait.
func (f *fanOut) add(n ast.Node, stack []ast.Node) {
	var loop ast.Stmt // the outermost one that starts no goroutine
	if !f.group {
		for _, around := range slices.Backward(append(stack, n)) {
			switch s := around.(type) {
			case *ast.ForStmt:
				if !f.startsIn(s) {
					loop = s
				}
			case *ast.RangeStmt:
				if !f.startsIn(s) && n != s.X {
					loop = s
				}
			}
		}
	}
	if loop != nil {
		f.ends[loop] = true
		return
	}
	for i, around := range stack {
		if clause, ok := around.(*ast.CommClause); ok && clause.Comm != nil && clause.Comm.Pos() <= n.Pos() && n.End() <= clause.Comm.End() && i > 1 {
			if len(stack[i-1].(*ast.BlockStmt).List) > 1 {
				f.cases[clause] = true
				return
			}
		}
	}
	f.waits = append(f.waits, n)
}

func (f *fanOut) startsIn(n ast.Node) bool {
	return slices.ContainsFunc(f.starts, func(s ast.Node) bool { return n.Pos() <= s.Pos() && s.End() <= n.End() })
}

// waitsDeferred reports whether a deferred literal waits.
func (r *rewriter) waitsDeferred(c *code, f *fanOut) (found bool) {
	for _, d := range c.defers {
		ast.Inspect(d, func(n ast.Node) bool {
			if n != nil {
				if on, _ := r.waitsFor(c, n); on != nil {
					found = found || r.isThe(f.awaiting, on)
				}
			}
			return !found
		})
	}
	return found
}

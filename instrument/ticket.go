package instrument

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/cfg"
)

// An operation of package sync/atomic may give out tickets: its result selects data that only this
// function will complete, by another atomic operation. Other goroutines wait for the completion:
//
//	n := h.countAndHotIdx.Add(1)
//	hot := h.counts[n>>63]
//	hot.observe(v)     // it adds to hot.count at its end
//
// Nothing is thrown between the two operations. A counter is not a ticket if its result selects
// nothing, so statistics around a long call keep no throw.

// ticket is a number that an atomic operation has given out.
type ticket struct {
	node ast.Node     // the operation
	from ast.Expr     // the variable that gives out tickets
	what types.Object // the variable that contains the number
}

// tickets returns the function's tickets: results of Add and Swap, and values that
// CompareAndSwap(n, …) has claimed.
func (r *rewriter) tickets(c *code) (all []ticket) {
	add := func(n ast.Node, from ast.Expr, e ast.Expr) {
		if id, ok := ast.Unparen(e).(*ast.Ident); ok {
			v, _ := r.info.ObjectOf(id).(*types.Var)
			if v != nil && c.declares(v) && isInteger(v.Type()) {
				all = append(all, ticket{n, from, v})
			}
		}
	}
	c.walk(func(n ast.Node, stack []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || inDeferred(stack) {
			return
		}
		switch op, on, args := r.atomicCall(call); op {
		case "CompareAndSwap":
			if len(args) == 2 {
				add(n, on, args[0])
			}
		case "Add", "Swap":
			for _, around := range slices.Backward(stack) {
				if assign, ok := around.(*ast.AssignStmt); ok && len(assign.Lhs) == 1 {
					add(n, on, assign.Lhs[0])
				}
				// The result may be an operand, as in atomic.AddUint64(&n, 1) - 1.
				if _, ok := around.(ast.Expr); !ok || isCall(around) {
					break
				}
			}
		}
	})
	return all
}

func isInteger(t types.Type) bool {
	basic, ok := core(t).(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0
}

func isCall(n ast.Node) bool {
	_, ok := n.(*ast.CallExpr)
	return ok
}

// keepTickets finds where the function must not be unwound, because it has a ticket and has not
// completed the data that the ticket selects.
func (r *rewriter) keepTickets(c *code) {
	all := r.tickets(c)
	if len(all) == 0 {
		return
	}
	var g *cfg.CFG
	for _, t := range all {
		of := r.derived(c, t.what)
		if !r.completes(c, c.body, of) {
			continue
		}
		if g == nil {
			g = cfg.New(c.body, func(*ast.CallExpr) bool { return true })
		}
		p := publication{t.node, t.from, t.what, false}
		f := newPublishFlow(r, c, p, func(n ast.Node) bool { return r.completes(c, n, of) })
		r.keep(c, keptStretch{by: p, ticket: true}, f, g)
	}
}

// derived returns the variables that the function computes from a variable without a call.
func (r *rewriter) derived(c *code, v types.Object) map[types.Object]bool {
	of := map[types.Object]bool{v: true}
	take := func(to, from ast.Expr) (more bool) {
		id, ok := to.(*ast.Ident)
		if !ok || !r.mentionsAny(from, of) {
			return false
		}
		alias := r.info.ObjectOf(id)
		more = alias != nil && !of[alias]
		if more {
			of[alias] = true
		}
		return more
	}
	for more := true; more; {
		more = false
		c.walk(func(n ast.Node, _ []ast.Node) {
			if n, ok := n.(*ast.AssignStmt); ok && len(n.Lhs) == len(n.Rhs) {
				for i, to := range n.Lhs {
					more = take(to, n.Rhs[i]) || more
				}
			}
		})
	}
	return of
}

// mentionsAny reports whether an expression uses one of the variables outside of calls. Conversions
// are not calls.
func (r *rewriter) mentionsAny(e ast.Expr, of map[types.Object]bool) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			return r.info.Types[n.Fun].IsType()
		case *ast.Ident:
			found = found || of[r.info.Uses[n]]
		}
		return !found
	})
	return found
}

// completes reports whether the node applies an atomic operation to an expression with one of the
// variables, or calls a function of the package that does. Deferred calls do not count, because
// they also run during a throw.
func (r *rewriter) completes(c *code, n ast.Node, of map[types.Object]bool) (found bool) {
	ast.PreorderStack(n, nil, func(n ast.Node, stack []ast.Node) bool {
		if found || inDeferred(append(slices.Clone(stack), n)) {
			return false
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if op, on, _ := r.atomicCall(call); op != "" {
			found = r.mentionsAny(on, of)
			return !found
		}
		target, to, _ := r.callee(call)
		if target != own || to == nil || to.decl == nil || to.serves() && !r.retries(to) {
			return true
		}
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && to.decl.Recv != nil && r.leads(sel.X) && r.mentionsAny(sel.X, of) {
			found = r.completesParam(to, nameIn(to.decl.Recv.List[0], 0))
		}
		i := 0
		for _, field := range to.typ.Params.List {
			for n := range max(len(field.Names), 1) {
				found = found || i < len(call.Args) && r.leads(call.Args[i]) && r.mentionsAny(call.Args[i], of) && r.completesParam(to, nameIn(field, n))
				i++
			}
		}
		return !found
	})
	return found
}

// retries reports whether each loop of the function without a condition repeats a CompareAndSwap:
// it ends when the operation succeeds, and serves no client.
func (r *rewriter) retries(c *code) bool {
	all := true
	c.walk(func(n ast.Node, _ []ast.Node) {
		loop, ok := n.(*ast.ForStmt)
		if !ok || loop.Cond != nil {
			return
		}
		swaps := false
		ast.Inspect(loop.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				op, _, _ := r.atomicCall(call)
				swaps = swaps || op == "CompareAndSwap"
			}
			return !swaps
		})
		all = all && swaps
	})
	return all
}

// completesParam reports whether a function applies an atomic operation to the data that its
// parameter refers to.
func (r *rewriter) completesParam(c *code, name *ast.Ident) bool {
	if name == nil {
		return false
	}
	param := r.info.Defs[name]
	known, ok := r.completed[param]
	if !ok && param != nil {
		r.completed[param] = false // for recursion
		known = r.completes(c, c.body, r.derived(c, param))
		r.completed[param] = known
	}
	return known
}

// whyTicket returns the reason for the stretch of a ticket.
func (k keptStretch) whyTicket(r *rewriter) string {
	return fmt.Sprintf("%s has given %s, whose data is completed as far as line %d",
		types.ExprString(k.by.into), k.by.what.Name(), r.set.Position(k.last).Line)
}

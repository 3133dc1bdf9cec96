package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// call is a call through which a function may reach itself again, and which no loop polls for.
type call struct {
	at     token.Pos // of a deferred call, its closing parenthesis
	to     *code     // the callee, or nil if the call may lead back from anywhere
	given  bool      // it calls a parameter of the function
	known  bool      // all functions passed by the call are known:
	passed []*code   // these
}

// callsOf finds the relevant calls of a function: calls of this package's functions, and calls that
// leave the package. It omits calls in the body of a loop that polls, and calls of go statements,
// because these run on another stack.
func (r *rewriter) callsOf(c *code) {
	polls := map[ast.Node]bool{} // the bodies of loops that poll
	for _, l := range c.loops {
		if l.polls || l.every > 0 {
			polls[bodyOf(l.stmt)] = true
		}
	}
	c.walk(func(n ast.Node, stack []ast.Node) {
		if rng, ok := n.(*ast.RangeStmt); ok && !r.plain(rng.X) {
			c.calls = append(c.calls, &call{at: rng.Pos()})
		}
		if d, ok := n.(*ast.DeferStmt); ok {
			c.defers = append(c.defers, d)
		}
		node, ok := n.(*ast.CallExpr)
		if ok && r.registers(node) {
			c.registers = append(c.registers, node)
		}
		if !ok || r.getsFromKnown(node) || slices.ContainsFunc(stack, func(n ast.Node) bool { return polls[n] }) {
			return
		}
		if g, ok := stack[len(stack)-1].(*ast.GoStmt); ok && g.Call == node {
			return
		}
		at := node.Pos()
		if isLater(node, stack) {
			at = node.Rparen
		}
		switch target, to, _ := r.callee(node); target {
		case own:
			passed, known := r.passed(node)
			c.calls = append(c.calls, &call{at: at, to: to, known: known, passed: passed})
		case away:
			if passed, known := r.passed(node); known && r.isSearch(node) {
				for _, to := range passed {
					c.calls = append(c.calls, &call{at: at, to: to})
				}
				return
			}
			c.calls = append(c.calls, &call{at: at, given: r.isGiven(c, node.Fun)})
		}
	})
}

// passed returns the functions among a call's arguments, and whether all of them are known:
// literals, and functions of this package. A callee that calls only its arguments then calls no
// other function.
func (r *rewriter) passed(call *ast.CallExpr) (passed []*code, known bool) {
	for _, arg := range call.Args {
		t := r.info.TypeOf(arg)
		if t == nil {
			return nil, false
		}
		if _, generic := types.Unalias(t).(*types.TypeParam); generic {
			return nil, false
		}
		switch t.Underlying().(type) {
		case *types.Signature:
		case *types.Tuple:
			return nil, false
		default:
			continue
		}
		c := r.declared[r.object(ast.Unparen(arg))]
		if lit, ok := ast.Unparen(arg).(*ast.FuncLit); ok {
			c = r.literals[lit]
		}
		if c == nil {
			return nil, false
		}
		passed = append(passed, c)
	}
	return passed, true
}

// isSearch reports whether the call is a binary search of another package.
func (r *rewriter) isSearch(call *ast.CallExpr) bool {
	f, ok := r.object(ast.Unparen(call.Fun)).(*types.Func)
	return ok && f.Pkg() != nil && f.Signature().Recv() == nil && brief[f.Pkg().Path()+"."+f.Name()]
}

// isGiven reports whether the called expression is an unchanged parameter of the function.
func (r *rewriter) isGiven(c *code, fun ast.Expr) bool {
	id, ok := ast.Unparen(fun).(*ast.Ident)
	if !ok || c.decl == nil {
		return false
	}
	v, ok := r.info.Uses[id].(*types.Var)
	return ok && v.Kind() == types.ParamVar && c.typ.Params.Pos() <= v.Pos() && v.Pos() < c.typ.Params.End() && !r.touched(v, c.body)
}

// leavesIt reports whether all the function's calls that leave the package call its parameters.
// Then its callers poll for it, because they pass the functions that may lead back to them. The
// function, usually a small one, can still be inlined.
func (c *code) leavesIt() bool {
	return c.decl != nil && !slices.ContainsFunc(c.calls, func(k *call) bool { return k.to == nil && !k.given })
}

// addPassed adds the known functions passed to a function that leaves polling to its callers: they
// count as called here.
func (c *code) addPassed() {
	for _, k := range c.calls {
		if k.to != nil && k.known && k.to.leavesIt() && k.to.callsAway() {
			for _, to := range k.passed {
				c.calls = append(c.calls, &call{at: k.at, to: to})
			}
		}
	}
}

func (c *code) callsAway() bool {
	return slices.ContainsFunc(c.calls, func(k *call) bool { return k.to == nil })
}

func bodyOf(stmt ast.Stmt) *ast.BlockStmt {
	if f, ok := stmt.(*ast.ForStmt); ok {
		return f.Body
	}
	return stmt.(*ast.RangeStmt).Body
}

// cut chooses the functions that poll for the cycles of the call graph, each before its calls in
// cycles.
//
// A cycle that leaves the package comes back through an interface, a function value or a callback,
// so it contains a call that leaves a package, this one or another. Every function with such a call
// polls, or its callers do: see leavesIt. The remaining cycles consist of this package's own calls.
// In each of them, the function in the largest number of cycles polls.
func (r *rewriter) cut() {
	for _, c := range r.codes {
		c.addPassed()
	}
	isCut, away := map[*code]bool{}, map[*call]bool{}
	for _, c := range r.codes {
		for _, k := range c.calls {
			away[k] = k.to == nil && !c.leavesIt() || k.to != nil && !k.known && k.to.leavesIt() && k.to.callsAway()
			isCut[c] = isCut[c] || away[k] && c.exempt == ""
		}
	}
	whole := components(r.codes, nil)
	for {
		comp := components(r.codes, isCut)
		in := map[*code]int{}
		for _, c := range r.codes {
			for _, k := range c.calls {
				if k.to != nil && comp[c] == comp[k.to] && comp[c] != 0 {
					in[k.to]++
					in[c]++
				}
			}
		}
		var best *code
		for _, c := range r.codes {
			if c.exempt == "" && in[c] > 0 && (best == nil || in[c] > in[best]) {
				best = c
			}
		}
		if best == nil {
			break
		}
		isCut[best] = true
	}
	for _, c := range r.codes {
		var at []token.Pos
		for _, k := range c.calls {
			if away[k] || k.to != nil && whole[c] != 0 && whole[c] == whole[k.to] {
				at = append(at, k.at)
			}
		}
		switch {
		case isCut[c]:
			r.enter(c, at)
		case c.exempt != "" && len(at) > 0:
			r.leave(c, c.body.Pos(), "recursion", c.exempt)
		}
	}
}

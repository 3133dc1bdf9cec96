package instrument

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// Costs are in units of a simple operation, a nanosecond or less. They bound the time that code may
// run without a poll, so they are upper estimates: all branches are added up.
const (
	endless   = 1 << 29 // unbounded, or unknown
	quick     = 1 << 10 // a loop of at most this cost does not poll
	stretch   = 1 << 13 // a counted loop polls at least this often
	moveCost  = 1 << 8  // an operation that copies memory: append, copy, conversions of strings
	makeCost  = stretch // a slice of unknown length: fresh memory costs most
	mapCost   = 20
	callCost  = 5
	farCost   = 30 // a call of a swift function
	unvisited = 0
	visiting  = -1
)

// swift lists packages with short-running functions, which call none of their arguments.
var swift = map[string]bool{"cmp": true, "math": true, "math/bits": true, "unicode/utf8": true, "unicode/utf16": true, "sync/atomic": true, "unsafe": true}

func int64Of(v constant.Value) (int64, bool) {
	if v = constant.ToInt(v); v.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(v)
}

// brief lists functions of the standard library whose loops end after few iterations: the searches
// halve the remaining range, and a match of compress/flate has at most 258 bytes. Their callers
// depend on inlining, which a poll would prevent.
var brief = map[string]bool{
	"sort.Search": true, "sort.Find": true, "slices.BinarySearch": true, "slices.BinarySearchFunc": true,
	"compress/flate.matchLen": true, "compress/flate.(*deflateFast).matchLen": true,
}

// weigh returns an upper bound of the cost of a call of the function.
func (r *rewriter) weigh(c *code) int {
	switch c.weight {
	case visiting:
		return endless // recursion
	case unvisited:
		c.weight = visiting
		c.weight = callCost + r.cost(c.body)
	}
	return min(c.weight, endless)
}

// cost returns an upper bound of the cost of a piece of code.
func (r *rewriter) cost(n ast.Node) int { return sumOf(n, r.costOf) }

// sumOf adds up the costs of the nodes of n, at most endless. costOf returns the cost of a node
// itself, and whether the node's children are included.
func sumOf(n ast.Node, costOf func(ast.Node) (units int, whole bool)) (sum int) {
	if n == nil {
		return 0
	}
	ast.Inspect(n, func(n ast.Node) bool {
		if n == nil || sum >= endless {
			return false
		}
		units, whole := costOf(n)
		sum += 1 + units
		return !whole
	})
	return min(sum, endless)
}

// costOfIteration returns an upper bound of the cost of the body of a loop from poll to poll. An
// inner loop that polls at each iteration, or once in a few, counts as the iterations from poll to
// poll, without its calls of unknown length, because a poll precedes each of them.
func (r *rewriter) costOfIteration(c *code, body *ast.BlockStmt) int {
	return sumOf(body, r.costFromPoll(c))
}

// costFromPoll returns costOf for nodes of a function, from poll to poll.
func (r *rewriter) costFromPoll(c *code) func(ast.Node) (units int, whole bool) {
	return func(n ast.Node) (units int, whole bool) {
		loop, ok := n.(*ast.ForStmt)
		if !ok || !r.willPoll(c, loop) {
			return r.costOf(n)
		}
		return r.cost(loop.Init) + r.cost(loop.Cond) + (r.copies(c, loop)+1)*(r.cost(loop.Cond)+r.cost(loop.Post)+sumOf(loop.Body, r.costIfKnown)), true
	}
}

// willPoll reports whether the loop certainly polls at each iteration, or once in a few: it counts
// nothing, so it is not split.
func (r *rewriter) willPoll(c *code, loop *ast.ForStmt) bool {
	_, counts := r.loopCounter(c, loop)
	return !counts && r.cost(loop) >= endless && c.whyNot(loop.Body.Lbrace) == ""
}

// costIfKnown is costOf with the cost of a call in place of an unknown cost.
func (r *rewriter) costIfKnown(n ast.Node) (units int, whole bool) {
	if units, whole = r.costOf(n); units >= endless {
		units = callCost
	}
	return units, whole
}

// costOf returns an upper bound of the cost of a node itself; whole means that its children are
// included.
func (r *rewriter) costOf(n ast.Node) (units int, whole bool) {
	switch n := n.(type) {
	case *ast.FuncLit:
		return moveCost, true
	case *ast.ForStmt:
		return r.costOfLoop(n, n.Body, n.Cond, n.Post), true
	case *ast.RangeStmt:
		return r.costOfLoop(n, n.Body) + r.cost(n.X), true
	case *ast.CallExpr:
		return r.costOfCall(n), false
	case *ast.IndexExpr:
		if t := r.info.TypeOf(n.X); t != nil {
			if _, ok := t.Underlying().(*types.Map); ok {
				return mapCost, false
			}
		}
	case *ast.BinaryExpr:
		if t := r.info.TypeOf(n); n.Op == token.ADD && (t == nil || isString(t)) {
			return moveCost, false
		}
	case *ast.BranchStmt:
		if n.Tok == token.GOTO {
			return endless, false
		}
	case *ast.DeferStmt, *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt:
		return endless, false
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return endless, false
		}
	}
	return 0, false
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return !ok || b.Info()&types.IsString != 0
}

func (r *rewriter) costOfLoop(loop ast.Stmt, parts ...ast.Node) int {
	times, ok := r.times(loop)
	if !ok {
		return endless
	}
	each := 1
	for _, p := range parts {
		each += r.cost(p)
	}
	if each >= endless || times > int64(endless/each) {
		return endless
	}
	return each * int(times)
}

func (r *rewriter) costOfCall(call *ast.CallExpr) int {
	switch target, c, f := r.callee(call); target {
	case own:
		return r.weigh(c)
	case builtin:
		id, _ := ast.Unparen(call.Fun).(*ast.Ident)
		if id != nil && (id.Name == "len" || id.Name == "cap" || id.Name == "min" || id.Name == "max" || id.Name == "real" || id.Name == "imag") {
			return 1
		}
		if id != nil && id.Name == "make" && !r.makesLittle(call) {
			return makeCost
		}
		return moveCost
	case conversion:
		if t := r.info.TypeOf(call); t == nil {
			return moveCost
		} else if r.onlyRenames(call, t) {
			return 1
		} else if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsString == 0 {
			return 1
		}
		return moveCost
	case outside:
		if f.Pkg() != nil && swift[f.Pkg().Path()] {
			return farCost
		}
	}
	return endless
}

// onlyRenames reports whether a conversion to the type copies nothing: the value has the same type
// by another name.
func (r *rewriter) onlyRenames(conversion *ast.CallExpr, to types.Type) bool {
	if len(conversion.Args) != 1 {
		return false // a mistake
	}
	from := r.info.TypeOf(conversion.Args[0])
	return from != nil && types.Identical(from.Underlying(), to.Underlying())
}

// makesLittle reports whether the text shows that a make call creates few elements.
func (r *rewriter) makesLittle(call *ast.CallExpr) bool {
	for _, arg := range call.Args[1:] {
		if n, ok := r.constant(arg); !ok || n > 1<<10 {
			return false
		}
	}
	return true
}

// times returns the maximum number of iterations of a loop, if the text has it: range over a
// constant or an array, or a counter from a constant to a constant.
func (r *rewriter) times(loop ast.Stmt) (int64, bool) {
	if rng, ok := loop.(*ast.RangeStmt); ok {
		if n, ok := r.constant(rng.X); ok {
			return max(n, 0), true
		}
		t := r.info.TypeOf(rng.X)
		if t == nil {
			return 0, false
		}
		t = t.Underlying()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem().Underlying()
		}
		a, ok := t.(*types.Array)
		if !ok {
			return 0, false
		}
		return a.Len(), true
	}
	f := loop.(*ast.ForStmt)
	c, ok := r.counterOf(f)
	cond, isBinary := f.Cond.(*ast.BinaryExpr)
	if !ok || c.step < 0 || !isBinary || cond.Op != token.LSS && cond.Op != token.LEQ || !r.isUse(ast.Unparen(cond.X), c.obj) {
		return 0, false
	}
	from, ok1 := r.constant(c.first)
	to, ok2 := r.constant(cond.Y)
	if !ok1 || !ok2 || c.bits < 64 && to > 1<<(c.bits-2) {
		return 0, false // it might overflow
	}
	return max(to-from+1, 0), true
}

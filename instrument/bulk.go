package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"strings"
)

// bulksOf rewrites builtin calls of the function that may take long with large data. Large calls
// then run in pieces, with a poll before each:
//
//	copy(a, b)               bulkCopy(a, b, bulkCopyPieces)
//	append(a, b...)          bulkAppend(a, b, bulkAppendPieces)
//	append(a, make(T, n)...) bulkExtend(a, n, bulkExtendPieces)
//	clear(a)                 bulkClear(a, bulkClearPieces)
//	a := make(T, n)          a := bulkMade[T](n, b, bulkMadePieces)
//	copy(a, b)
//
// The functions on the right are in the package's additional file (see bulkText). The compiler
// inlines them. They compare the size with 256 KiB, and up to that size do what the left side does.
// Like polls, they take their callee as an argument, because this costs less of the inlining
// budget.
//
// A call stays unchanged if the text shows that its data is small, if no poll may stand there, or
// if its function might no longer be inlined: this would cost callers with little data more.
func (r *rewriter) bulksOf(c *code) {
	if c.exempt != "" || c.careful >= plainly || !r.takesBulk() || c.isLarge() {
		return
	}
	var found []func()
	whole := map[*ast.CallExpr]bool{} // calls rewritten together with the statement before
	c.walk(func(n ast.Node, stack []ast.Node) {
		for _, m := range r.madeCopies(c, n) {
			whole[m.make], whole[m.copy] = true, true
			found = append(found, func() { r.bulks[m.make], r.bulks[m.copy] = true, true; r.madeInstead(c, m) })
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || whole[call] || c.whyNot(n.Pos()) != "" || inDefer(stack, call) {
			return
		}
		if rewrite := r.bulk(c, call); rewrite != nil {
			found = append(found, func() { r.bulks[call] = true; rewrite() })
		}
	})
	if len(found) == 0 || r.mayInline(c) && !r.staysInline(c, len(found)) {
		return
	}
	for _, rewrite := range found {
		rewrite()
	}
}

// bulkNames are the predeclared names that bulkText uses in their usual meaning.
var bulkNames = strings.Fields("any append bool byte cap clear complex128 copy false float64 int int64 len make new nil string true uint uint64 uintptr")

// takesBulk reports whether the functions of bulkText compile in this package: they are generic,
// and are passed as values with inferred type arguments.
func (r *rewriter) takesBulk() bool {
	if r.types == nil || r.pkg.GoVersion != "" && version.Compare(r.pkg.GoVersion, "go1.21") < 0 {
		return false
	}
	for _, name := range bulkNames {
		if r.types.Scope().Lookup(name) != nil {
			return false
		}
	}
	return true
}

func inDefer(stack []ast.Node, call *ast.CallExpr) bool {
	switch around := stack[len(stack)-1].(type) {
	case *ast.DeferStmt:
		return around.Call == call
	case *ast.GoStmt:
		return around.Call == call
	}
	return false
}

// bulk returns the replacement of the call, or nil for any other call, or for a call with certainly
// little data.
func (r *rewriter) bulk(c *code, call *ast.CallExpr) func() {
	id, ok := call.Fun.(*ast.Ident)
	if !ok || !r.info.Types[id].IsBuiltin() || len(call.Args) == 0 {
		return nil
	}
	for _, arg := range call.Args {
		if r.info.TypeOf(arg) == nil {
			return nil
		}
	}
	switch last := call.Args[len(call.Args)-1]; {
	case id.Name == "clear" && r.isSlice(last) && !r.isLittle(last):
		return r.callInstead(c, call, "bulkClear")
	case id.Name == "copy" && !r.isLittle(call.Args[0]) && !r.isLittle(last) && r.anyOrder(c, call.Args):
		switch {
		case r.isSlice(call.Args[0]) && r.isSlice(last):
			return r.callInstead(c, call, "bulkCopy")
		case r.isBytes(call.Args[0]) && types.AssignableTo(r.info.TypeOf(last), types.Typ[types.String]):
			return r.callInstead(c, call, "bulkCopyString")
		}
	case id.Name == "append" && call.Ellipsis.IsValid() && r.isSlice(call.Args[0]) && !r.isLittle(last):
		if n, ok := r.made(last); ok {
			if r.anyOrder(c, []ast.Expr{call.Args[0], n}) {
				return r.extendInstead(c, call, n)
			}
			return nil
		}
		switch {
		case !r.anyOrder(c, call.Args):
		case r.isSlice(last):
			return r.callInstead(c, call, "bulkAppend")
		case r.isBytes(call.Args[0]) && types.AssignableTo(r.info.TypeOf(last), types.Typ[types.String]):
			return r.callInstead(c, call, "bulkAppendString")
		}
	}
	return nil
}

func (r *rewriter) isSlice(e ast.Expr) bool {
	_, ok := core(r.info.TypeOf(e)).(*types.Slice)
	return ok
}

func (r *rewriter) isBytes(e ast.Expr) bool {
	s, ok := core(r.info.TypeOf(e)).(*types.Slice)
	return ok && types.Identical(s.Elem(), types.Typ[types.Byte])
}

// isLittle reports whether the text shows that a slice or a string is short. In the standard
// library, slices count as short, except for bytes and the arguments of its generic functions: some
// of its tightest loops copy slices, and regexp would take 4 % longer.
func (r *rewriter) isLittle(e ast.Expr) bool {
	if r.info.Types[e].Value != nil {
		return true
	}
	if s, ok := core(r.info.TypeOf(e)).(*types.Slice); ok && r.pkg.Std {
		if _, generic := types.Unalias(s.Elem()).(*types.TypeParam); !generic && !types.Identical(s.Elem(), types.Typ[types.Byte]) {
			return true
		}
	}
	const little = 1 << 10 // elements
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		target, _, _ := r.callee(e)
		return target == conversion && len(e.Args) == 1 && r.isLittle(e.Args[0]) && !r.isNil(e.Args[0])
	case *ast.SliceExpr:
		from, isFrom := r.constant(e.Low)
		if to, isTo := r.constant(e.High); isTo && (isFrom || e.Low == nil) && to-from <= little {
			return true
		}
		t := r.info.TypeOf(e.X).Underlying()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem().Underlying()
		}
		a, ok := t.(*types.Array)
		return ok && a.Len() <= little
	}
	return false
}

func (r *rewriter) isNil(e ast.Expr) bool { return r.info.Types[e].IsNil() }

// made returns the length of a slice made in the call.
func (r *rewriter) made(e ast.Expr) (n ast.Expr, ok bool) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return nil, false
	}
	id, ok := call.Fun.(*ast.Ident)
	if !ok || id.Name != "make" || !r.info.Types[id].IsBuiltin() {
		return nil, false
	}
	return call.Args[1], true
}

// anyOrder reports whether the order in which the arguments are evaluated does not matter. The
// compiler reads the variables among a builtin's arguments after the calls among them, and the
// variables among an inlined function's arguments in their order.
func (r *rewriter) anyOrder(c *code, args []ast.Expr) bool {
	for i, e := range args {
		if r.silent(e) {
			continue
		}
		for j, other := range args {
			if i != j && !r.isFixed(c, other) {
				return false
			}
		}
	}
	return true
}

// isFixed reports whether the value of the expression does not depend on what other expressions do:
// a constant, nil as a slice, or a variable of the function that no other code can reach.
func (r *rewriter) isFixed(c *code, e ast.Expr) bool {
	e = ast.Unparen(e)
	if tv := r.info.Types[e]; tv.Value != nil || tv.IsNil() {
		return true
	}
	switch e := e.(type) {
	case *ast.CallExpr:
		target, _, _ := r.callee(e)
		return target == conversion && len(e.Args) == 1 && r.isFixed(c, e.Args[0])
	case *ast.Ident:
		v, ok := r.info.Uses[e].(*types.Var)
		return ok && c.typ.Pos() <= v.Pos() && v.Pos() < c.body.End() && !r.shared(v, c.body)
	}
	return false
}

// callInstead rewrites a call of a builtin function.
func (r *rewriter) callInstead(c *code, call *ast.CallExpr, name string) func() {
	return func() {
		from, to := call.Args[len(call.Args)-1].End(), call.Args[len(call.Args)-1].End()
		if call.Ellipsis.IsValid() {
			from, to = call.Ellipsis, call.Ellipsis+token.Pos(len("..."))
		}
		r.replace(c.file, call.Fun.Pos(), call.Fun.End(), r.name(name))
		r.replace(c.file, from, to, ", "+r.name(name)+"Pieces")
	}
}

// extendInstead rewrites append(a, make(T, n)...), where the text allows it.
func (r *rewriter) extendInstead(c *code, call *ast.CallExpr, n ast.Expr) func() {
	last := call.Args[1]
	if !r.isInt(n) {
		return nil // another integer might not be an int
	}
	if length, ok := r.constant(n); ok && length <= 1<<10 {
		return nil
	}
	end := call.Ellipsis + token.Pos(len("..."))
	if !r.isPlainText(c, last.Pos(), n.Pos()) || !r.isPlainText(c, n.End(), end) {
		return nil
	}
	return func() {
		r.replace(c.file, call.Fun.Pos(), call.Fun.End(), r.name("bulkExtend"))
		r.replace(c.file, last.Pos(), n.Pos(), "")
		r.replace(c.file, n.End(), end, ", "+r.name("bulkExtendPieces"))
	}
}

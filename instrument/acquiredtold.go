package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"
)

// A deferred call may only tell something of a value, in a log, a text or a metric:
//
//	defer func() { latency.WithLabelValues(name).Observe(time.Since(start).Seconds()) }()
//
// Such a call releases nothing. So using a value there does not make it a resource.

// telling matches the names of functions that tell something of their arguments: logs, metrics and
// accounts, with the usual endings. The name has to match as a whole: Logout and ErrorAndClose do
// not.
var telling = regexp.MustCompile(`^([Ll]og|[Pp]rint|[Dd]ebug|[Ii]nfo|[Nn]otice|[Ww]arn|[Ww]arning|[Ee]rror|[Oo]bserve|[Rr]ecord|[Mm]easure|[Cc]ount|[Aa]ccount|Timing|Msg)(f|ln|w|Context|Ctx|Attrs|Duration)?$`)

// describing are packages of the standard library whose functions and methods describe values, and
// own nothing.
var describing = map[string]bool{
	"errors": true, "fmt": true, "log": true, "log/slog": true, "net/url": true, "strconv": true, "strings": true, "time": true, "unicode/utf8": true,
}

// tells reports whether a call only tells something of its receiver and its arguments.
func (r *rewriter) tells(call *ast.CallExpr) bool {
	f, ok := r.object(ast.Unparen(call.Fun)).(*types.Func)
	if !ok {
		return false
	}
	f = f.Origin()
	if c := r.declared[f]; c != nil {
		return r.onlyTells(c)
	}
	if f.Pkg() != nil && describing[f.Pkg().Path()] {
		receiver := receiverOf(f)
		return !takesFunction(f.Signature()) && receiver != "Timer" && receiver != "Ticker"
	}
	return telling.MatchString(f.Name())
}

// onlyTells reports whether a function of this package tells something, and does nothing else: it
// changes only its own variables, and its calls only tell something, too. A function with the name
// of an account may also add to what others read. Other functions may do so to give back a place.
func (r *rewriter) onlyTells(c *code) bool {
	known, ok := r.tellers[c]
	if ok {
		return known // false while c is under examination
	}
	r.tellers[c] = false
	adds := c.decl != nil && telling.MatchString(c.decl.Name.Name)
	only, some := true, adds
	changes := func(e ast.Expr) {
		id, ok := ast.Unparen(e).(*ast.Ident)
		only = only && ok && (id.Name == "_" || r.info.ObjectOf(id) != nil && isWithin(r.info.ObjectOf(id), c.body))
	}
	ast.Inspect(c.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SendStmt, *ast.GoStmt, *ast.SelectStmt:
			only = false
		case *ast.UnaryExpr:
			only = only && n.Op != token.ARROW
		case *ast.RangeStmt:
			only = only && !r.rangesOver(n)
		case *ast.IncDecStmt:
			if !adds || n.Tok != token.INC {
				changes(n.X)
			}
		case *ast.AssignStmt:
			if adds && n.Tok == token.ADD_ASSIGN {
				return true
			}
			for _, to := range n.Lhs {
				changes(to)
			}
		case *ast.CallExpr:
			only, some = only && (r.callTells(n) || adds && r.callAdds(n)), some || r.tells(n)
		}
		return only
	})
	r.tellers[c] = only && some
	return only && some
}

func isWithin(v types.Object, n ast.Node) bool { return n.Pos() <= v.Pos() && v.Pos() < n.End() }

// callTells reports whether a call in a function leaves it one that only tells something.
func (r *rewriter) callTells(call *ast.CallExpr) bool {
	switch target, _, _ := r.callee(call); target {
	case conversion:
		return true
	case builtin:
		id, ok := ast.Unparen(call.Fun).(*ast.Ident)
		return ok && id.Name != "close" && id.Name != "delete" && id.Name != "clear" && id.Name != "copy"
	}
	if _, lit := ast.Unparen(call.Fun).(*ast.FuncLit); lit {
		return true // its body is part of the function's
	}
	return r.tells(call)
}

// callAdds reports whether a call locks or unlocks, or adds to a number, as a function that
// accounts does.
func (r *rewriter) callAdds(call *ast.CallExpr) bool {
	f, ok := r.object(ast.Unparen(call.Fun)).(*types.Func)
	if !ok || f.Pkg() == nil {
		return false
	}
	switch f.Pkg().Path() {
	case "sync":
		return strings.HasSuffix(f.Name(), "ock") && receiverOf(f) != "WaitGroup"
	case "sync/atomic":
		return strings.HasPrefix(f.Name(), "Add")
	}
	return false
}

// usesInTold is usesIn for a call that tells something: only the calls that compute its arguments
// and its receiver use anything, other than those that make a part of the message.
func (r *rewriter) usesInTold(call *ast.CallExpr, all bool, visit func(e ast.Expr, how usage)) {
	look := func(n ast.Node, isPart func(*ast.CallExpr) bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			inner, ok := n.(*ast.CallExpr)
			switch {
			case !ok:
				return true
			case r.tells(inner) || isPart(inner):
				r.usesInTold(inner, all, visit)
			default:
				r.usesIn(inner, all, visit)
			}
			return false
		})
	}
	for _, arg := range call.Args {
		look(arg, r.makesPart) // zap.String("id", id)
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		look(sel.X, r.givesOne) // latency.WithLabelValues(name)
	}
}

// makesPart reports whether a call, an argument of one that tells something, only makes a part of
// the message: it calls a function of another package that gives one value.
func (r *rewriter) makesPart(call *ast.CallExpr) bool {
	f, ok := r.object(ast.Unparen(call.Fun)).(*types.Func)
	return ok && f.Signature().Recv() == nil && r.declared[f.Origin()] == nil && r.givesOne(call)
}

// givesOne reports whether a call gives one value that is not an error, and has no name of a
// release.
func (r *rewriter) givesOne(call *ast.CallExpr) bool {
	f, ok := r.object(ast.Unparen(call.Fun)).(*types.Func)
	if !ok || releasing[f.Name()] || takesFunction(f.Signature()) {
		return false
	}
	results := f.Signature().Results()
	return results.Len() == 1 && types.TypeString(results.At(0).Type(), nil) != "error"
}

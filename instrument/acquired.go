package instrument

import (
	"cmp"
	"go/ast"
	"go/types"
	"slices"
)

// A function acquires a resource, and releases it by a deferred call:
//
//	c, err := acquire(ctx)
//	if err != nil {
//		return err
//	}
//	defer c.Close(context.WithoutCancel(ctx))
//
// Nothing is thrown between the acquisition and the defer statement: a throw there would lose the
// resource. The text does not show which calls acquire. So every variable that a deferred call uses
// counts as a resource, from the call that assigned it to the first defer statement that uses it.
// Other expressions, such as a field or a parameter, count from the last use in a call before the
// defer statement. acquireduses.go says which values a deferred call uses, acquiredkept.go which
// values a function stores where a deferred call finds them.

// resource is a value that a deferred call uses: a variable, or an expression that begins with one.
type resource struct {
	v types.Object
	// the expression; "" for a variable that the function assigns from a call
	path string
}

func (of resource) compare(other resource) int {
	return cmp.Or(cmp.Compare(of.v.Pos(), other.v.Pos()), cmp.Compare(of.path, other.path))
}

// release is how a function releases a resource.
type release struct {
	by    []ast.Node // statements or calls after which the resource will be released
	how   usage      // how they use it
	late  bool       // it will be the value that the variable has then
	calls []*ast.CallExpr
	// it counts as far as a store in another resource, which the calls release
	stored bool
	typ    types.Type
}

// add adds a use of the resource. Uses that say more about a release replace the rest.
func (of *release) add(l laterCall, how usage) {
	if how < of.how {
		return
	}
	if how > of.how {
		*of = release{how: how, typ: of.typ}
	}
	if !slices.Contains(of.by, l.node) {
		of.by, of.calls = append(of.by, l.node), append(of.calls, l.call)
		_, lit := ast.Unparen(l.call.Fun).(*ast.FuncLit)
		of.late = of.late || lit
	}
}

// releases returns the resources that a function's later calls use, each with these calls. If a
// deferred call calls a resource, or one of its methods, the deferred calls that only pass the
// resource on do not count: they may be for a log.
func (r *rewriter) releases(c *code) map[resource]*release {
	all := map[resource]*release{}
	for _, l := range r.laterCalls(c) {
		r.usesLater(l, func(e ast.Expr, how usage) {
			of, ok := r.resourceOf(c, e)
			switch {
			case !ok, l.node.Pos() <= of.v.Pos() && of.v.Pos() < l.node.End(): // its own variable
				return
			case how == captured && (of.path != "" || l.elsewhere), l.elsewhere && of.path != "" && !isChannel(r.info.TypeOf(e)):
				return
			case l.elsewhere:
				how = elsewhere
			}
			if all[of] == nil {
				all[of] = &release{typ: r.info.TypeOf(e)}
			}
			all[of].add(l, how)
		})
	}
	return all
}

// resourceOf returns the resource that an expression stands for.
func (r *rewriter) resourceOf(c *code, e ast.Expr) (of resource, ok bool) {
	e = holder(e)
	if e == nil || r.isNoResource(e) {
		return of, false
	}
	v := r.first(e)
	if v == nil {
		return of, false
	}
	if c.declares(v) && r.isMade(c, v) {
		return resource{v, ""}, true
	}
	return resource{v, types.ExprString(e)}, true
}

// holder returns the part of an expression that contains its resource: the receiver of a method
// call, the operand of a conversion, an index or an address. It returns nil for literals.
func holder(e ast.Expr) ast.Expr {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.CallExpr:
			sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
			if !ok {
				return nil
			}
			e = sel.X
		case *ast.StarExpr:
			e = x.X
		case *ast.UnaryExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.TypeAssertExpr:
			e = x.X
		case *ast.Ident, *ast.SelectorExpr:
			return x
		default:
			return nil
		}
	}
}

// first returns the variable at which a selector begins, or nil.
func (r *rewriter) first(e ast.Expr) *types.Var {
	for {
		switch x := holder(e).(type) {
		case *ast.Ident:
			v, _ := r.info.ObjectOf(x).(*types.Var)
			return v
		case *ast.SelectorExpr:
			if v, ok := r.info.Uses[x.Sel].(*types.Var); ok && !v.IsField() {
				return v // of another package
			}
			e = x.X
		default:
			return nil
		}
	}
}

// isNoResource reports whether a value has a type that deferred calls use, and that need not be
// released.
func (r *rewriter) isNoResource(e ast.Expr) bool {
	t := r.info.TypeOf(e)
	if t == nil {
		return false
	}
	switch types.TypeString(t, nil) {
	case "error", "context.Context", "time.Time":
		return true
	}
	return false
}

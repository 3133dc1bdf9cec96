package instrument

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// A function may get a resource together with a function that releases it:
//
//	txn, finish, err := begin(ctx)
//	if err != nil {
//		return err
//	}
//	err = work(ctx, txn)
//	return finish(ctx, err)
//
// The function that makes it has the resource until it returns:
//
//	txn, err := store.Begin(ctx)
//	finish := func(ctx context.Context, err error) error { store.Abort(txn); return err }
//	return txn, finish, err

// closersIn returns the variables that contain a function which may release what came with it.
func (r *rewriter) closersIn(stores []store) map[*types.Var]bool {
	closers := map[*types.Var]bool{}
	for _, s := range stores {
		id, ok := ast.Unparen(s.to).(*ast.Ident)
		if !ok {
			continue
		}
		v, ok := r.info.ObjectOf(id).(*types.Var)
		if ok && (isReleaseType(v.Type()) || isCloserType(v.Type()) && r.cameWithMore(s, v.Type())) {
			closers[v] = true
		}
	}
	return closers
}

// isReleaseType reports whether a function of the type may release what came with it. The functions
// that cancel a context do not count: without them it ends a little later.
func isReleaseType(t types.Type) bool {
	f, ok := t.(*types.Signature)
	return ok && f.Params().Len() == 0 && f.Results().Len() == 0
}

// isCloserType reports whether a function of the type may release what came with it, if something
// did: it gets at most contexts and errors, and returns at most an error. By itself, such a
// function may as well be the work.
func isCloserType(t types.Type) bool {
	f, ok := t.Underlying().(*types.Signature)
	if !ok || f.Results().Len() > 1 || isOfContext(t) {
		return false
	}
	for p := range f.Params().Variables() {
		if !isError(p.Type()) && !isOfContext(p.Type()) {
			return false
		}
	}
	return f.Results().Len() == 0 || isError(f.Results().At(0).Type())
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// isOfContext reports whether a type is of package context: a context, or a function that cancels
// one.
func isOfContext(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "context"
}

// cameWithMore reports whether the stored value is one of several results of a call, and another is
// a value that may be a resource.
func (r *rewriter) cameWithMore(s store, t types.Type) bool {
	results, ok := r.info.TypeOf(s.from).(*types.Tuple)
	if !ok {
		return false
	}
	for v := range results.Variables() {
		if !types.Identical(v.Type(), t) && !isError(v.Type()) && !isOfContext(v.Type()) && !isBasic(v.Type()) {
			return true
		}
	}
	return false
}

// releasedInLiterals returns the function's variables that its literals release, each with the
// released expressions: the variable, or parts of it.
func (r *rewriter) releasedInLiterals(c *code) map[*types.Var][]string {
	released := map[*types.Var][]string{}
	ast.Inspect(c.body, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if ok {
			r.releasedIn(c, lit, released)
		}
		return !ok
	})
	return released
}

// releasedIn adds what a literal of the function releases.
func (r *rewriter) releasedIn(c *code, lit *ast.FuncLit, released map[*types.Var][]string) {
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		for _, e := range r.releasedExprs(call) {
			if v := r.first(e); v != nil && c.declares(v) {
				released[v] = append(released[v], types.ExprString(holder(e)))
			}
		}
		return true
	})
}

// coversField reports whether the release of one of the expressions releases a field of a variable.
func coversField(released []string, v *types.Var, field string) bool {
	return slices.ContainsFunc(released, func(path string) bool {
		return path == v.Name() || path == field || strings.HasPrefix(path, field+".") || strings.HasPrefix(field, path+".")
	})
}

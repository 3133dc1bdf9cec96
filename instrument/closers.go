package instrument

import (
	"go/ast"
	"go/types"
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

// releasedInLiterals returns the function's variables that its literals release.
func (r *rewriter) releasedInLiterals(c *code) map[*types.Var]bool {
	released := map[*types.Var]bool{}
	ast.Inspect(c.body, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if !ok {
			return true
		}
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				for _, v := range r.releasedBy(call, nil) {
					released[v] = released[v] || c.declares(v)
				}
			}
			return true
		})
		return false
	})
	return released
}

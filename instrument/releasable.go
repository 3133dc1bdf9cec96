package instrument

import (
	"go/types"
	"slices"
)

// closing are the names in releasing that show a resource in the methods of its type: they have no
// parameter, except for a context.
var closing = []string{
	"Close", "Release", "Free", "Rollback", "Stop", "Unref", "Discard", "Destroy", "Dispose",
	"close", "release", "free", "rollback", "stop", "unref", "discard", "destroy", "dispose",
}

// isReleasable reports whether values of a type, or of one of several types, are released: by a
// method, or by a function of this package.
func (r *rewriter) isReleasable(t types.Type) bool {
	if results, ok := t.(*types.Tuple); ok {
		for v := range results.Variables() {
			if r.isReleasable(v.Type()) {
				return true
			}
		}
		return false
	}
	if t == nil || isBasic(t) {
		return false
	}
	known, ok := r.releasable[t]
	if !ok {
		known = slices.ContainsFunc(closing, func(name string) bool { return r.releasesItself(t, name) }) || r.isPromise(t) ||
			slices.ContainsFunc(r.releasedTypes(), func(back types.Type) bool { return types.Identical(back, t) })
		r.releasable[t] = known
	}
	return known
}

func (r *rewriter) releasesItself(t types.Type, name string) bool {
	found, _, _ := types.LookupFieldOrMethod(t, true, r.types, name)
	f, ok := found.(*types.Func)
	if !ok || dispensable[f.FullName()] {
		return false
	}
	params := f.Signature().Params()
	return params.Len() == 0 || params.Len() == 1 && types.TypeString(params.At(0).Type(), nil) == "context.Context"
}

// releasedTypes returns the types of the values that functions of the package release.
func (r *rewriter) releasedTypes() []types.Type {
	if r.backs != nil {
		return r.backs
	}
	r.backs = []types.Type{}
	for _, c := range r.codes {
		if c.decl == nil || !releasing[c.decl.Name.Name] && c.decl.Name.Name != "put" {
			continue
		}
		f, ok := r.info.Defs[c.decl.Name].(*types.Func)
		if ok && f.Signature().Params().Len() == 1 && !isBasic(f.Signature().Params().At(0).Type()) {
			r.backs = append(r.backs, f.Signature().Params().At(0).Type())
		}
	}
	return r.backs
}

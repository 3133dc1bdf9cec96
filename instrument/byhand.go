package instrument

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/cfg"
)

// A function may release what it acquires by no deferred call:
//
//	c, err := acquire(ctx)
//	if err != nil {
//		return err
//	}
//	if err := c.init(ctx); err != nil {
//		c.Close()
//		return err
//	}
//	return c.use(ctx)
//
// A throw between the two would lose the resource. Most such stretches are short, so a throw waits
// there, but not for long: package cocoon bounds the time. So it does little harm if a variable
// counts as a resource and is not one, and the names of the releasing calls are enough.

// releasing are names of functions and methods that release a resource.
var releasing = map[string]bool{
	"Close": true, "Release": true, "Free": true, "Put": true, "Remove": true, "RemoveAll": true, "Rollback": true, "Stop": true,
	"Abort": true, "Commit": true, "abort": true, "commit": true, // the place or the lock of a transaction
	"Unref": true, "Discard": true, "Destroy": true, "Dispose": true,
	"close": true, "release": true, "free": true, "rollback": true, "unref": true, "discard": true, "destroy": true, "dispose": true,
}

// byHandStretches finds the stretches of a function in which it holds a resource that no deferred
// call releases, and that it later releases, returns or passes on, on some path.
func (r *rewriter) byHandStretches(c *code) {
	ends, stores := map[*types.Var][]ast.Node{}, r.storesOf(c)
	closers := r.closersIn(stores)
	c.walk(func(n ast.Node, stack []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || inDeferred(stack) {
			return
		}
		for _, v := range r.releasedBy(call, closers) {
			if c.declares(v) && v.Kind() != types.ParamVar && v.Kind() != types.RecvVar {
				ends[v] = append(ends[v], call)
			}
		}
	})
	entrusted := r.entrustedBy(c, stores)
	fields := r.addReturned(c, stores, entrusted, ends)
	r.addPassedOn(c, ends)
	if len(ends) == 0 {
		return
	}
	later, makers := r.releases(c), r.makersIn(c, stores)
	g := cfg.New(c.body, func(*ast.CallExpr) bool { return true })
	byPlace := func(a, b *types.Var) int { return cmp.Compare(a.Pos(), b.Pos()) }
	for _, v := range slices.SortedFunc(maps.Keys(ends), byPlace) {
		if _, isLater := later[resource{v, ""}]; isLater {
			continue
		}
		all := append(fields[v], made{v.Name(), makers[v]})
		if coversField(entrusted[v], v, v.Name()) {
			all = append(all, made{v.Name(), r.collected(c, stores, makers, v)})
		}
		if isParam := v.Kind() == types.ParamVar || v.Kind() == types.RecvVar; isParam && len(entrusted[v]) > 0 {
			all = append(all, made{entrusted[v][0], r.lastUses(c, v, entrusted[v])})
		}
		for _, m := range all {
			if len(m.stores) == 0 {
				continue
			}
			by := &fanOut{awaiting: awaiting{of: v, path: m.path}, starts: m.stores, waits: ends[v], some: true}
			by.entrusted = coversField(entrusted[v], v, m.path)
			if m.path == v.Name() {
				by.keeps = r.keepers(m.stores, v)
			}
			if stretch := stretchOf(g, c, by); stretch != nil {
				c.byHand = append(c.byHand, stretch)
			}
		}
	}
}

// releasedBy returns the variables that a call releases, by its name: the receiver, an argument of
// a function, or the variable that contains the called function, which is one of the closers.
func (r *rewriter) releasedBy(call *ast.CallExpr, closers map[*types.Var]bool) (vars []*types.Var) {
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if v, ok := r.info.Uses[id].(*types.Var); ok && closers[v] {
			return []*types.Var{v}
		}
	}
	for _, e := range r.releasedExprs(call) {
		if v := r.first(e); v != nil && !slices.Contains(vars, v) {
			vars = append(vars, v)
		}
	}
	return vars
}

// releasedExprs returns the receiver or the arguments that a call releases.
func (r *rewriter) releasedExprs(call *ast.CallExpr) []ast.Expr {
	fun, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || !releasing[fun.Sel.Name] {
		return nil
	}
	if f, ok := r.object(fun).(*types.Func); ok && dispensable[f.FullName()] {
		return nil
	}
	of := call.Args
	if len(of) == 0 {
		of = []ast.Expr{fun.X}
	}
	return slices.DeleteFunc(slices.Clone(of), r.isNoResource)
}

// makersIn returns the stores that give the function's variables an acquired value: a value
// from a call or a channel, or a part of this value.
func (r *rewriter) makersIn(c *code, stores []store) map[*types.Var][]ast.Node {
	all := map[*types.Var][]ast.Node{}
	for more := true; more; {
		more = false
		for _, s := range stores {
			id, ok := ast.Unparen(s.to).(*ast.Ident)
			if !ok {
				continue
			}
			v, ok := r.info.ObjectOf(id).(*types.Var)
			if !ok || !c.declares(v) || slices.Contains(all[v], s.node) || r.isDispensable(s) {
				continue
			}
			from := r.first(s.from)
			if r.makesVar(c, s.node, v) || from != nil && from != v && len(all[from]) > 0 {
				all[v], more = append(all[v], s.node), true
			}
		}
	}
	return all
}

// spareByHand registers the lines on which a poll in a stretch with a resource, or in a call there,
// may throw.
func (r *rewriter) spareByHand(c *code) {
	for _, s := range c.byHand {
		if s.by.entrusted {
			continue // keepFanned
		}
		r.linesIn(c, s, func(at token.Pos, _ bool) { r.byHand[r.placeOf(at)] = true })
	}
}

package instrument

import (
	"cmp"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// A function may store what it acquires where a later call finds it:
//
//	for range n {
//		c, err := acquire(ctx)
//		if err != nil {
//			return err
//		}
//		cs = append(cs, c)
//	}
//	defer release(cs)
//
// Then c is a resource from the call that assigned it to the store, and cs from the store to the
// defer statement. If the defer statement comes first, only c is.

// store is an assignment of a value to a variable, an element or a field.
type store struct {
	node ast.Node
	to   ast.Expr
	from ast.Expr
	vars []*types.Var // that are part of the value
	// it stores in an element, or by append
	element, adds bool
}

// values returns the stored value, or what append adds.
func (s store) values() []ast.Expr {
	if s.adds {
		return ast.Unparen(s.from).(*ast.CallExpr).Args[1:]
	}
	return []ast.Expr{s.from}
}

// storesOf returns the function's assignments, without the assignments of its literals.
func (r *rewriter) storesOf(c *code) (all []store) {
	add := func(n ast.Node, to, from ast.Expr) {
		if id, ok := to.(*ast.Ident); ok && id.Name == "_" {
			return
		}
		s := store{node: n, to: to, from: from}
		switch ast.Unparen(to).(type) {
		case *ast.IndexExpr, *ast.StarExpr:
			s.element = true
		}
		s.adds = r.isAppend(from)
		all = append(all, s)
	}
	c.walk(func(n ast.Node, _ []ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				add(n, to, n.Rhs[min(i, len(n.Rhs)-1)])
			}
		case *ast.ValueSpec:
			for i, to := range n.Names {
				if len(n.Values) > 0 {
					add(n, to, n.Values[min(i, len(n.Values)-1)])
				}
			}
		}
	})
	return all
}

func (r *rewriter) isAppend(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	target, _, _ := r.callee(call)
	return ok && target == builtin && id.Name == "append"
}

// keepStored returns the stores by which released resources acquire something, and adds the
// variables that contain the stored values to the resources: these count as far as the store.
func (r *rewriter) keepStored(c *code, released map[resource]*release) map[resource][]ast.Node {
	gets, stores := map[resource][]ast.Node{}, r.storesOf(c)
	work := slices.SortedFunc(maps.Keys(released), resource.compare)
	direct := len(work)
	if !slices.ContainsFunc(work, func(of resource) bool {
		return slices.ContainsFunc(stores, func(s store) bool { return r.storesIn(of, released[of], s) })
	}) {
		return nil
	}
	acquired := r.acquiredBy(c, stores)
	for i := 0; i < len(work); i++ {
		of := work[i]
		for _, s := range stores {
			if !r.storesIn(of, released[of], s) {
				continue
			}
			from := slices.DeleteFunc(slices.Clone(s.vars), func(v *types.Var) bool { return v == of.v || !acquired[v] && !r.isMade(c, v) })
			_, closure := ast.Unparen(s.from).(*ast.FuncLit)
			if !closure && (len(from) > 0 || r.takes(s.from)) {
				gets[of] = append(gets[of], s.node)
			}
			for _, v := range from {
				is := func(known resource) bool { return known.v == v }
				// calls that come before a literal do not release what it captures
				if slices.ContainsFunc(work[:direct], is) && !(closure && isBehind(s.node, released[of].by)) {
					continue
				}
				if !slices.ContainsFunc(work, is) {
					work = append(work, r.variable(c, v))
				}
				at := work[slices.IndexFunc(work, is)]
				if released[at] == nil {
					released[at] = &release{how: operated, calls: released[of].calls, stored: true}
				}
				if by := released[at]; !slices.Contains(by.by, s.node) {
					by.by = append(by.by, s.node)
				}
			}
		}
	}
	return gets
}

// variable returns the resource of a whole variable.
func (r *rewriter) variable(c *code, v *types.Var) resource {
	if r.isMade(c, v) {
		return resource{v, ""}
	}
	return resource{v, v.Name()}
}

// acquiredBy finds the variables of each store, and returns the variables that may contain an
// acquired value because of the stores, perhaps as a part of their value.
func (r *rewriter) acquiredBy(c *code, stores []store) map[*types.Var]bool {
	for i := range stores {
		stores[i].vars = r.variablesIn(c, stores[i].from)
	}
	acquired := map[*types.Var]bool{}
	for more := true; more; {
		more = false
		for _, s := range stores {
			to := r.first(s.to)
			if to != nil && !acquired[to] && slices.ContainsFunc(s.vars, func(v *types.Var) bool { return acquired[v] || r.isMade(c, v) }) {
				acquired[to], more = true, true
			}
		}
	}
	return acquired
}

// storesIn reports whether the later calls that release a resource release a stored value, too.
func (r *rewriter) storesIn(of resource, by *release, s store) bool {
	if of.v != r.first(s.to) {
		return false
	}
	before := isBehind(s.node, by.by)
	path, to := cmp.Or(of.path, of.v.Name()), types.ExprString(holder(s.to))
	switch field, within := strings.CutPrefix(to, path+"."); {
	case !r.mayHold(s, before):
		return false
	case within:
		field, _, _ = strings.Cut(field, ".")
		return r.releasesField(by, field, !before)
	case path == to:
		return !before || s.element || by.late && (s.adds || by.how == operated)
	default: // the whole value
		return strings.HasPrefix(path, to+".") && (!before || by.late && by.how == operated)
	}
}

// isBehind reports whether all of the other nodes come before the node.
func isBehind(n ast.Node, others []ast.Node) bool {
	return !slices.ContainsFunc(others, func(other ast.Node) bool { return other.Pos() > n.Pos() })
}

// mayHold reports whether a stored value may contain a resource: numbers and texts do not. If the
// deferred call comes first, slices of these do not either, because it may be for a log.
func (r *rewriter) mayHold(s store, before bool) bool {
	t := r.info.TypeOf(s.to)
	if t == nil || r.isNoResource(s.to) {
		return t == nil
	}
	u := core(t)
	if slice, ok := u.(*types.Slice); ok && (before || r.isAppend(s.from)) {
		u = core(slice.Elem())
	}
	return !isBasic(u)
}

// releasesField reports whether one of the calls uses the field in this package. If other functions
// may use it, the result is unknown.
func (r *rewriter) releasesField(by *release, field string, unknown bool) (found bool) {
	seen := map[*code]bool{}
	var uses func(n ast.Node)
	call := func(call *ast.CallExpr) {
		switch target, to, _ := r.callee(call); {
		case target == own && to != nil && !seen[to]:
			seen[to] = true
			uses(to.body)
		case target == away || target == outside:
			found = found || unknown && len(seen) == 0
		}
	}
	uses = func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				found = found || n.Sel.Name == field
			case *ast.CallExpr:
				call(n)
			}
			return !found
		})
	}
	for _, by := range by.calls {
		if lit, ok := ast.Unparen(by.Fun).(*ast.FuncLit); ok {
			uses(lit.Body)
		} else {
			uses(by)
		}
	}
	return found || unknown && by.stored
}

func isBasic(t types.Type) bool {
	_, basic := core(t).(*types.Basic)
	return basic
}

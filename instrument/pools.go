package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
)

// knownPools finds the variables of the package that are a sync.Pool, and of which the text shows
// the function New, if any:
//
//	var scanners = sync.Pool{New: func() any { return new(scanner) }}
//
// The variable is not exported, and the package uses it only to get and to put back. So Get calls
// this function or none. Go refuses variables that refer to themselves through functions, so this
// function leads back only through a call for which it polls itself, and a call of Get needs no
// poll. Small functions around Get then stay inlined.
func (r *rewriter) knownPools() map[types.Object]bool {
	known := map[types.Object]bool{}
	for _, f := range r.files {
		for _, d := range f.tree.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.VAR {
				for _, s := range d.Specs {
					r.addPools(known, s.(*ast.ValueSpec))
				}
			}
		}
	}
	if len(known) == 0 {
		return known
	}
	for _, f := range r.files {
		ast.PreorderStack(f.tree, nil, func(n ast.Node, stack []ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && r.info.Uses[id] != nil && !isMethodOfPool(stack) {
				delete(known, r.info.Uses[id])
			}
			return true
		})
	}
	return known
}

// isMethodOfPool reports whether the node in these nodes is the x of x.Get or x.Put.
func isMethodOfPool(stack []ast.Node) bool {
	s, ok := stack[len(stack)-1].(*ast.SelectorExpr)
	return ok && (s.Sel.Name == "Get" || s.Sel.Name == "Put")
}

// addPools adds the pools in a declaration.
func (r *rewriter) addPools(known map[types.Object]bool, s *ast.ValueSpec) {
	for i, id := range s.Names {
		v := r.info.Defs[id]
		if v == nil || v.Exported() || !isPool(v.Type()) {
			continue
		}
		if len(s.Values) == 0 || len(s.Values) == len(s.Names) && r.isKnownPool(s.Values[i]) {
			known[v] = true
		}
	}
}

func isPool(t types.Type) bool {
	switch types.TypeString(t, nil) {
	case "sync.Pool", "*sync.Pool":
		return true
	}
	return false
}

// isKnownPool reports whether a value is the literal of a pool whose function New is a function of
// this package that may poll.
func (r *rewriter) isKnownPool(value ast.Expr) bool {
	value = ast.Unparen(value)
	if u, ok := value.(*ast.UnaryExpr); ok && u.Op == token.AND {
		value = ast.Unparen(u.X)
	}
	pool, ok := value.(*ast.CompositeLit)
	if !ok {
		return false
	}
	for _, e := range pool.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		c := r.declared[r.object(ast.Unparen(pair.Value))]
		if lit, ok := ast.Unparen(pair.Value).(*ast.FuncLit); ok {
			c = r.literals[lit]
		}
		if c == nil || c.exempt != "" {
			return false
		}
	}
	return true
}

// getsFromKnown reports whether the call is the method Get of a known pool.
func (r *rewriter) getsFromKnown(call *ast.CallExpr) bool {
	s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "Get" {
		return false
	}
	id, ok := ast.Unparen(s.X).(*ast.Ident)
	return ok && r.pools[r.info.Uses[id]]
}

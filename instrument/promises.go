package instrument

import (
	"go/ast"
	"go/types"
)

// A value with a channel may be a promise: other goroutines wait for a function to complete it.
//
//	func (c *call) finish() { close(c.done) }
//
//	c, first := g.register(key)
//	if !first {
//		return c.wait()
//	}
//	g.started(key)
//	return g.load(c) // defers c.finish()
//
// After a throw in started, all later calls for the key would wait forever. So such a value counts
// like one with a method Close: nothing is thrown until the function has passed it on.

// isPromise reports whether values of a type complete themselves: the type has a method of this
// package that closes a channel in a field of the receiver.
func (r *rewriter) isPromise(t types.Type) bool {
	if r.promises == nil {
		r.promises = map[*types.TypeName]bool{}
		for _, c := range r.codes {
			if c.decl != nil && c.decl.Recv != nil && len(c.decl.Recv.List[0].Names) == 1 && r.closesField(c) {
				r.promises[typeName(r.info.TypeOf(c.decl.Recv.List[0].Names[0]))] = true
			}
		}
	}
	name := typeName(t)
	return name != nil && r.promises[name]
}

// closesField reports whether a method closes a channel in a field of its receiver.
func (r *rewriter) closesField(c *code) (found bool) {
	recv := r.info.Defs[c.decl.Recv.List[0].Names[0]]
	c.walk(func(n ast.Node, _ []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return
		}
		id, isName := ast.Unparen(call.Fun).(*ast.Ident)
		field, isField := ast.Unparen(call.Args[0]).(*ast.SelectorExpr)
		found = found || isName && isField && id.Name == "close" && r.info.Types[id].IsBuiltin() && r.isUse(ast.Unparen(field.X), recv)
	})
	return found
}

// typeName returns the name of a type, or of the type that a pointer points to, or nil.
func typeName(t types.Type) *types.TypeName {
	if t == nil {
		return nil
	}
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj()
	}
	return nil
}

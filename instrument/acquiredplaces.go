package instrument

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
)

// A function may take a place of a semaphore by a channel operation, and give it back later by the
// opposite operation. Unlike the calls of a method, each such operation acquires.

// operation is a send to a channel, or a receive.
type operation struct {
	node    ast.Node
	channel string
	sends   bool
}

// operationsIn returns the channel operations in a piece of code. Operations of its literals count
// only if all is true.
func operationsIn(n ast.Node, all bool) (ops []operation) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.DeferStmt, *ast.GoStmt, *ast.FuncLit:
			return all
		case *ast.SendStmt:
			ops = append(ops, operation{n, types.ExprString(n.Chan), true})
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				ops = append(ops, operation{n, types.ExprString(n.X), false})
			}
		}
		return true
	})
	return ops
}

// places returns the operations on the channel that later calls undo.
func (r *rewriter) places(c *code, of resource, by *release) (all []ast.Node) {
	if by.how != operated && by.how != elsewhere || !isChannel(by.typ) {
		return nil
	}
	channel := cmp.Or(of.path, of.v.Name())
	opposite := map[bool]bool{}
	for _, call := range by.calls {
		bodies := r.closures[r.object(ast.Unparen(call.Fun))]
		if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
			bodies = append(bodies, lit)
		}
		for _, lit := range bodies {
			for _, op := range operationsIn(lit.Body, true) {
				opposite[!op.sends] = opposite[!op.sends] || op.channel == channel
			}
		}
	}
	if len(opposite) > 0 {
		for _, op := range operationsIn(c.body, false) {
			if op.channel == channel && opposite[op.sends] {
				all = append(all, op.node)
			}
		}
	}
	return all
}

package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// owedIn returns the stretches in which the body owes goroutines to a wait group, and will wait for
// it even when a throw unwinds the body. A throw there would wait without end for goroutines that
// were never started:
//
//	wg.Add(n)
//	defer wg.Wait()
//	for i := range n {
//		go work(i, &wg)
//	}
//
// A stretch goes from an Add to the next go statement, or to the end of the loops around that
// statement. Without a go statement it goes to the end of the body. Groups are recognised by their
// method names, like locks. nodes are the body's, see lockNodes.
func owedIn(body *ast.BlockStmt, nodes []lockNode) (owed []span) {
	if !slices.ContainsFunc(nodes, lockNode.isDeferredWait) {
		return nil
	}
	type add struct {
		group string
		at    token.Pos
	}
	var adds []add
	var starts []*start
	waited := map[string]bool{}
	ast.PreorderStack(body, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return useOf(n, stack) == deferred
		case *ast.GoStmt:
			starts = append(starts, startOf(n, stack))
		case *ast.CallExpr:
			sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
			switch {
			case !ok:
			case sel.Sel.Name == "Add":
				// a poll may stand directly before it
				adds = append(adds, add{types.ExprString(sel.X), n.Pos() + 1})
			case sel.Sel.Name == "Wait" && isDeferred(stack):
				waited[types.ExprString(sel.X)] = true
			}
		}
		return true
	})
	for _, a := range adds {
		if waited[a.group] {
			owed = append(owed, span{a.at, paid(a.at, starts, body)})
		}
	}
	return owed
}

func (n lockNode) isDeferredWait() bool {
	call, ok := n.node.(*ast.CallExpr)
	if !ok || n.by == nil {
		return false
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Wait"
}

// start is a go statement with its enclosing loops, outermost first.
type start struct {
	stmt  *ast.GoStmt
	loops []ast.Node
}

func startOf(stmt *ast.GoStmt, stack []ast.Node) *start {
	s := &start{stmt: stmt}
	for _, n := range stack {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			s.loops = append(s.loops, n)
		}
	}
	return s
}

func isDeferred(stack []ast.Node) bool {
	for _, n := range stack {
		if _, ok := n.(*ast.DeferStmt); ok {
			return true
		}
	}
	return false
}

// paid returns the position at which the goroutines owed from p on have been started.
func paid(p token.Pos, starts []*start, body *ast.BlockStmt) token.Pos {
	for _, s := range starts {
		if s.stmt.Pos() < p {
			continue
		}
		for _, l := range s.loops {
			if l.Pos() > p { // it does not contain the Add as well
				return l.End()
			}
		}
		return s.stmt.End()
	}
	return body.End()
}

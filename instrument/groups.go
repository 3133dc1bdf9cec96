package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
)

// owedIn returns where the body owes goroutines to a wait group, and will wait for it even when it
// is unwound. A throw in there would wait for ever, for those that were not started yet:
//
//	wg.Add(n)
//	defer wg.Wait()
//	for i := range n {
//		go work(i, &wg)
//	}
//
// It is from an Add to the next go statement, or the end of the loops around that; without one, to
// the end of the body. Groups are seen by the names of their methods, like locks.
func owedIn(body *ast.BlockStmt) (owed []span) {
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
			if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok {
				group := types.ExprString(sel.X)
				if sel.Sel.Name == "Add" {
					adds = append(adds, add{group, n.Pos() + 1}) // just before it there may be a poll
				}
				waited[group] = waited[group] || sel.Sel.Name == "Wait" && isDeferred(stack)
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

// start is a go statement, with the loops around it, outermost first.
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

// paid returns where the goroutines have been started that are owed from p on.
func paid(p token.Pos, starts []*start, body *ast.BlockStmt) token.Pos {
	for _, s := range starts {
		if s.stmt.Pos() < p {
			continue
		}
		for _, l := range s.loops {
			if l.Pos() > p { // it does not have the Add as well
				return l.End()
			}
		}
		return s.stmt.End()
	}
	return body.End()
}

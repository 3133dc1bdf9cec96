package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"

	"golang.org/x/tools/go/analysis"
)

// locks are the mutexes held at a place of a function on every path to it, with the calls that
// locked them.
type locks map[mutex]token.Pos

// lockWalk follows one function along its statements. Function literals inside it are followed
// separately.
type lockWalk struct {
	pass      *analysis.Pass
	releasers map[*types.Func]bool
	ops       []lockOp       // of the function, in source order
	deferred  map[mutex]bool // unlocked by a defer
	loose     map[mutex]bool // also locked or unlocked by a function literal
}

// newLockWalk returns nil for a function without locks, or with a goto.
func newLockWalk(pass *analysis.Pass, body *ast.BlockStmt, releasers map[*types.Func]bool) *lockWalk {
	w := &lockWalk{pass: pass, releasers: releasers, deferred: map[mutex]bool{}, loose: map[mutex]bool{}}
	jumps := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BranchStmt:
			jumps = jumps || n.Tok == token.GOTO
		case *ast.GoStmt:
			return false
		case *ast.DeferStmt:
			w.noteDefer(n)
			return false
		case *ast.FuncLit:
			w.eachOp(n, func(op lockOp) { w.loose[op.mutex] = true })
			return false
		case *ast.CallExpr:
			if op, ok := lockOpOf(pass.TypesInfo, n); ok {
				w.ops = append(w.ops, op)
			}
		}
		return true
	})
	if jumps || len(w.ops) == 0 {
		return nil
	}
	return w
}

// noteDefer records what the defer unlocks without having locked it itself.
func (w *lockWalk) noteDefer(n *ast.DeferStmt) {
	own := map[mutex]bool{}
	w.eachOp(n, func(op lockOp) {
		if op.unlock && !own[op.mutex] {
			w.deferred[op.mutex] = true
		}
		own[op.mutex] = true
	})
}

// eachOp calls f for the lock operations in n, including function literals.
func (w *lockWalk) eachOp(n ast.Node, f func(lockOp)) {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if op, ok := lockOpOf(w.pass.TypesInfo, call); ok {
				f(op)
			}
		}
		return true
	})
}

// block follows statements in order. It changes held, and reports whether the end is reached.
func (w *lockWalk) block(list []ast.Stmt, held locks) bool {
	for _, s := range list {
		if !w.statement(s, held) {
			return false
		}
	}
	return true
}

func (w *lockWalk) statement(s ast.Stmt, held locks) (goesOn bool) {
	switch s := s.(type) {
	case *ast.BlockStmt:
		return w.block(s.List, held)
	case *ast.LabeledStmt:
		return w.statement(s.Stmt, held)
	case *ast.IfStmt:
		return w.branch(s, held)
	case *ast.ForStmt:
		w.simple(s.Init, held)
		w.simple(s.Cond, held)
		w.inside(s, held, s.Body.List)
	case *ast.RangeStmt:
		w.simple(s.X, held)
		w.inside(s, held, s.Body.List)
	case *ast.SwitchStmt:
		w.simple(s.Init, held)
		w.simple(s.Tag, held)
		w.clauses(s.Body, held)
	case *ast.TypeSwitchStmt:
		w.simple(s.Init, held)
		w.simple(s.Assign, held)
		w.clauses(s.Body, held)
	case *ast.SelectStmt:
		w.clauses(s.Body, held)
	case *ast.DeferStmt, *ast.GoStmt:
	case *ast.ReturnStmt:
		w.simple(s, held)
		return false
	case *ast.BranchStmt:
		return false
	default:
		w.simple(s, held)
		return !w.panics(s)
	}
	return true
}

// branch follows both arms of an if. After it, a lock is held if it is held at the end of every arm
// that does not leave.
func (w *lockWalk) branch(s *ast.IfStmt, held locks) (goesOn bool) {
	w.simple(s.Init, held)
	w.simple(s.Cond, held)
	then, other := maps.Clone(held), maps.Clone(held)
	thenOn, otherOn := w.block(s.Body.List, then), true
	if s.Else != nil {
		otherOn = w.statement(s.Else, other)
	}
	clear(held)
	switch {
	case !otherOn:
		maps.Copy(held, then)
	case !thenOn:
		maps.Copy(held, other)
	default:
		maps.Copy(held, then)
		maps.DeleteFunc(held, func(m mutex, _ token.Pos) bool { _, both := other[m]; return !both })
	}
	return thenOn || otherOn
}

// clauses follows the cases of a switch or select. Each begins with the same locks.
func (w *lockWalk) clauses(body *ast.BlockStmt, held locks) {
	for _, c := range body.List {
		switch c := c.(type) {
		case *ast.CaseClause:
			w.inside(c, held, c.Body)
		case *ast.CommClause:
			w.inside(c, held, append([]ast.Stmt{c.Comm}, c.Body...))
		}
	}
}

// inside follows statements in n that may run any number of times. After them, held contains only
// what n cannot have changed.
func (w *lockWalk) inside(n ast.Node, held locks, list []ast.Stmt) {
	w.block(list, maps.Clone(held))
	w.eachOp(n, func(op lockOp) { delete(held, op.mutex) })
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			w.release(n, held)
		case *ast.AssignStmt:
			w.forget(n, held)
		}
		return true
	})
}

// simple follows a node without statements. It may contain function literals, which run later.
func (w *lockWalk) simple(n ast.Node, held locks) {
	if n == nil {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			w.call(n, held)
		}
		return true
	})
	if a, ok := n.(*ast.AssignStmt); ok {
		w.forget(a, held)
	}
}

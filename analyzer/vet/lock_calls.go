package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// call follows a call, in evaluation order.
func (w *lockWalk) call(call *ast.CallExpr, held locks) {
	if op, ok := lockOpOf(w.pass.TypesInfo, call); ok {
		if op.unlock {
			delete(held, op.mutex)
		} else {
			held[op.mutex] = op.pos
		}
		return
	}
	w.release(call, held)
	if name := pollName(w.pass, call); name != "" && !waits(w.pass.TypesInfo, call) {
		w.poll(name, call, held)
	}
}

// release drops all locks at a call of a function that unlocks mutexes locked by its caller.
func (w *lockWalk) release(call *ast.CallExpr, held locks) {
	if f, ok := typeutil.Callee(w.pass.TypesInfo, call).(*types.Func); ok && w.releasers[f.Origin()] {
		clear(held)
	}
}

// forget drops the locks in variables that get a new value.
func (w *lockWalk) forget(a *ast.AssignStmt, held locks) {
	for _, left := range a.Lhs {
		if root, path := lvalue(w.pass.TypesInfo, left); root != nil {
			maps.DeleteFunc(held, func(m mutex, _ token.Pos) bool {
				return m.root == root && (m.path == path || strings.HasPrefix(m.path, path+"."))
			})
		}
	}
}

// poll reports a safe point under a lock. If several locks are held, it names the first.
func (w *lockWalk) poll(name string, call *ast.CallExpr, held locks) {
	var first mutex
	for m, pos := range held {
		if w.unlocksLater(m, call.Pos()) && (first.root == nil || pos < held[first]) {
			first = m
		}
	}
	if first.root == nil {
		return
	}
	report(w.pass, analysis.Diagnostic{
		Pos: call.Pos(), End: call.End(),
		Message: name + " between " + first.method("Lock") + " and " + first.method("Unlock") +
			": a task that is suspended here keeps the lock",
		Related: []analysis.RelatedInformation{{Pos: held[first], Message: "locked here"}},
	})
}

// unlocksLater reports whether the next operation of the function on m is an unlock. A function
// that leaves the unlocking to other code may have let it lock or unlock m before.
func (w *lockWalk) unlocksLater(m mutex, pos token.Pos) bool {
	if w.loose[m] {
		return false
	}
	for _, op := range w.ops {
		if op.mutex == m && op.pos > pos {
			return op.unlock
		}
	}
	return w.deferred[m]
}

// panics reports whether the statement is a call of panic.
func (w *lockWalk) panics(s ast.Stmt) bool {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := ast.Unparen(e.X).(*ast.CallExpr)
	return ok && typeutil.Callee(w.pass.TypesInfo, call) == types.Universe.Lookup("panic")
}

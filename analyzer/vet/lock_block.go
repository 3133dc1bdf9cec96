package vet

import (
	"go/ast"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// reportBlockedLocks reports locks taken inside Block and kept beyond it.
func reportBlockedLocks(pass *analysis.Pass, in *inspector.Inspector) {
	in.Preorder([]ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node) {
		call := n.(*ast.CallExpr)
		name := calleeIn(pass.TypesInfo, call, cocoonPath)
		if name != "Block" && name != "Wait" && name != "BlockCall" || len(call.Args) != 2 {
			return
		}
		var kept []lockOp
		switch fn := ast.Unparen(call.Args[1]).(type) {
		case *ast.FuncLit:
			kept = keptLocks(pass, fn)
		case *ast.SelectorExpr: // cocoon.Wait(ctx, mu.Lock)
			if op, ok := lockOpOf(pass.TypesInfo, &ast.CallExpr{Fun: fn}); ok && !op.unlock {
				kept = append(kept, op)
			}
		}
		for _, op := range kept {
			pass.Reportf(op.pos, "%s inside cocoon.%s: the task holds the lock while it waits for its slot; call it without %s, the wait is seen "+
				"(on an exclusive loop alone it belongs there)", op.method("Lock"), name, name)
		}
	})
}

// keptLocks returns the calls of Lock in a function that never unlocks the same mutex.
func keptLocks(pass *analysis.Pass, fn *ast.FuncLit) (kept []lockOp) {
	var taken []lockOp
	unlocked := map[mutex]bool{}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			switch op, ok := lockOpOf(pass.TypesInfo, call); {
			case ok && op.unlock:
				unlocked[op.mutex] = true
			case ok:
				taken = append(taken, op)
			}
		}
		return true
	})
	for _, op := range taken {
		if !unlocked[op.mutex] {
			kept = append(kept, op)
		}
	}
	return kept
}

package vet

import (
	"go/ast"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Lock is the checker cocoonlock.
var Lock = &analysis.Analyzer{
	Name: "cocoonlock",
	URL:  docs,
	Doc: `report safe points where a lock is held

At a safe point a task may be suspended, and keeps its locks meanwhile: the tasks that run in its place, and every other
goroutine, wait for them until it is resumed. A throw leaves the data that the lock protects half-way:

	// bad
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range s.rows {
		cocoon.SafePoint(ctx)
		sum += row.size
	}

	// good
	s.mu.Lock()
	rows := slices.Clone(s.rows)
	s.mu.Unlock()
	for _, row := range rows {
		cocoon.SafePoint(ctx)
		sum += row.size
	}

The checker reports cocoon.SafePoint, Yield, Block and Wait and safepoint.Poll between Lock and Unlock of one sync.Mutex or
sync.RWMutex in one function, where the lock is held on every path. A Block whose function unlocks it or waits on a
sync.Cond is left out, and so is a lock that function literals lock or unlock.

A lock that is taken inside of Block, and kept, is held while the task waits for its slot. Without Block the runtime sees
the wait and gives the slot to others, and the task goes on at once when it has the lock:

	// bad
	cocoon.Block(ctx, func() error { s.mu.Lock(); return nil })
	defer s.mu.Unlock()

	// good
	s.mu.Lock()
	defer s.mu.Unlock()`,
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      runLock,
}

func runLock(pass *analysis.Pass) (any, error) {
	if !uses(pass.Pkg, cocoonPath, safepointPath) {
		return nil, nil
	}
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	var bodies []*ast.BlockStmt
	in.Preorder([]ast.Node{(*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)}, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				bodies = append(bodies, n.Body)
			}
		case *ast.FuncLit:
			bodies = append(bodies, n.Body)
		}
	})
	reportBlockedLocks(pass, in)
	releasers := findReleasers(pass, in)
	for _, body := range bodies {
		if w := newLockWalk(pass, body, releasers); w != nil {
			w.block(body.List, locks{})
		}
	}
	return nil, nil
}

// pollName returns the name of the called safe point, or "".
func pollName(pass *analysis.Pass, call *ast.CallExpr) string {
	switch name := calleeIn(pass.TypesInfo, call, cocoonPath); name {
	case "SafePoint", "Yield", "Block", "Wait":
		return "cocoon." + name
	}
	if calleeIn(pass.TypesInfo, call, safepointPath) == "Poll" {
		return "safepoint.Poll"
	}
	return ""
}

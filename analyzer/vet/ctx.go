package vet

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Ctx is the checker cocoonctx.
var Ctx = &analysis.Analyzer{
	Name: "cocoonctx",
	URL:  docs,
	Doc: `report a task that uses another context than its own

Run and Go give the task's function a context that leads to the task. With the context from outside Block keeps the slot,
Yield and Section do nothing, SafePoint has to search, and what Run and Go start does not belong to the task:

	// bad
	rt.Run(ctx, "scan", func(tctx context.Context) error {
		return cocoon.Block(ctx, read)
	})

	// good
	rt.Run(ctx, "scan", func(tctx context.Context) error {
		return cocoon.Block(tctx, read)
	})

Calls of SafePoint, Yield, Block, Wait, BlockCall, Section and SectionContext are reported when their context is a variable from outside the function
literal; of Run and Go when it is the very local variable that the task itself was started with. The context of a task
that the literal is nested in by Run leads to the inner task, too. Literals without a name for their context, and code
behind a go statement, are left out.`,
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      runCtx,
}

// starters start a task. Their arguments are the context, the name and the function.
var starters = map[string]bool{
	"Run": true, "Runtime.Run": true, "Loop.Run": true,
	"Go": true, "Runtime.Go": true, "Loop.Go": true,
}

// inTask act on the task of the context in their first argument.
var inTask = map[string]bool{"SafePoint": true, "Yield": true, "Block": true, "Wait": true, "BlockCall": true, "Section": true, "SectionContext": true}

func runCtx(pass *analysis.Pass) (any, error) {
	if !uses(pass.Pkg, cocoonPath) {
		return nil, nil
	}
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.WithStack([]ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node, push bool, stack []ast.Node) bool {
		if !push {
			return true
		}
		if t := taskOf(pass, n.(*ast.CallExpr)); t != nil && t.own != nil {
			t.root = t.outermost(stack)
			t.check()
		}
		return true
	})
	return nil, nil
}

// task is the function literal of a task.
type task struct {
	pass  *analysis.Pass
	lit   *ast.FuncLit
	runs  bool         // runs on the goroutine of its caller
	root  *ast.FuncLit // of the outermost task known to run on the same goroutine, perhaps lit
	outer *types.Var   // the context that the task was started with, if it is a variable
	own   *types.Var   // the literal's parameter, if it has a name
}

// outermost returns root. stack leads to the call that starts t.
func (t *task) outermost(stack []ast.Node) *ast.FuncLit {
	root, runs := t.lit, t.runs
	for i := len(stack) - 2; i >= 0 && runs; i-- {
		switch n := stack[i].(type) {
		case *ast.GoStmt:
			return root
		case *ast.CallExpr:
			if around := taskOf(t.pass, n); around != nil && stack[i+1] == around.lit {
				root, runs = around.lit, around.runs
			}
		}
	}
	return root
}

// taskOf returns the task started by the call, if the task's function is a literal.
func taskOf(pass *analysis.Pass, call *ast.CallExpr) *task {
	name := calleeIn(pass.TypesInfo, call, cocoonPath)
	if !starters[name] || len(call.Args) != 3 {
		return nil
	}
	lit, ok := ast.Unparen(call.Args[2]).(*ast.FuncLit)
	if !ok {
		return nil
	}
	t := &task{pass: pass, lit: lit, runs: strings.HasSuffix(name, "Run")}
	_, t.outer = variable(pass.TypesInfo, call.Args[0])
	if names := lit.Type.Params.List[0].Names; len(names) == 1 && names[0].Name != "_" {
		t.own, _ = pass.TypesInfo.Defs[names[0]].(*types.Var)
	}
	return t
}

// variable returns the identifier and its variable, if the expression is an identifier.
func variable(info *types.Info, e ast.Expr) (*ast.Ident, *types.Var) {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil, nil
	}
	v, _ := info.Uses[id].(*types.Var)
	return id, v
}

// check checks the calls in the task's body, except in the tasks started there and in other
// goroutines.
func (t *task) check() {
	others := map[*ast.FuncLit]bool{}
	ast.Inspect(t.lit.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			return false
		case *ast.FuncLit:
			return !others[n]
		case *ast.CallExpr:
			if inner := taskOf(t.pass, n); inner != nil {
				others[inner.lit] = true
			}
			t.checkCall(n)
		}
		return true
	})
}

func (t *task) checkCall(call *ast.CallExpr) {
	name := calleeIn(t.pass.TypesInfo, call, cocoonPath)
	if len(call.Args) == 0 || !inTask[name] && !starters[name] {
		return
	}
	id, v := variable(t.pass.TypesInfo, call.Args[0])
	if v == nil || t.reaches(v) || t.assigns(v) {
		return
	}
	if starters[name] && (v != t.outer || v.Parent() == t.pass.Pkg.Scope()) {
		return // perhaps the task should not be a child
	}
	d := analysis.Diagnostic{
		Pos: id.Pos(), End: id.End(),
		Message: fmt.Sprintf("%s is given %s, a context from outside the task; the task's own is %s", name, id.Name, t.own.Name()),
	}
	if t.visible(id) {
		d.SuggestedFixes = []analysis.SuggestedFix{{
			Message:   "Use " + t.own.Name(),
			TextEdits: []analysis.TextEdit{{Pos: id.Pos(), End: id.End(), NewText: []byte(t.own.Name())}},
		}}
	}
	report(t.pass, d)
}

// reaches reports whether v is a parameter or a local variable of the task's function, or of a
// task's function around it on the same goroutine.
func (t *task) reaches(v *types.Var) bool { return t.root.Pos() <= v.Pos() && v.Pos() < t.root.End() }

// assigns reports whether the task's function may write v, or take its address. v may then be the
// task's context.
func (t *task) assigns(v *types.Var) (found bool) {
	is := func(e ast.Expr) bool { _, w := variable(t.pass.TypesInfo, e); return w == v }
	ast.Inspect(t.lit.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				found = found || is(left)
			}
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && is(n.X)
		}
		return !found
	})
	return found
}

// visible reports whether the name of the task's own context refers to that context at id.
func (t *task) visible(id *ast.Ident) bool {
	scope := t.pass.Pkg.Scope().Innermost(id.Pos())
	if scope == nil {
		return false
	}
	_, o := scope.LookupParent(t.own.Name(), id.Pos())
	return o == t.own
}

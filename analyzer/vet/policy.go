package vet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Policy is the checker cocoonpolicy.
var Policy = &analysis.Analyzer{
	Name: "cocoonpolicy",
	URL:  docs,
	Doc: `report policies that will be refused when they are registered

A policy's expression is text to the Go compiler. The checker parses and verifies it as RegisterPolicy will, and points at
the place in the text:

	// bad: a duration is compared with a plain number
	cocoon.Policy{Name: "limit", On: cocoon.Every(time.Millisecond), Expr: ` + "`task.running > 100 ? throw(\"late\") : continue()`" + `}

	// good
	cocoon.Policy{Name: "limit", On: cocoon.Every(time.Millisecond), Expr: ` + "`task.running > duration(\"100ms\") ? throw(\"late\") : continue()`" + `}

It looks at composite literals of cocoon.Policy and policy.Spec, and at assignments to their field Expr, where the parts
are constants, or variables that are made once; and at documents that are loaded: constants, what go:embed embeds, and files
whose path is constant. Errors in those have their place in the document. Functions that help to register, of this package or
another, are seen through: what they are given is checked where they are called. go vet keeps its results: it does not notice
that a file with a constant path has changed; cocoonvet does. What it does not see (a trigger, the type of a state) it takes to be whatever makes the policy valid. A state
or function that is not registered is reported when the package is a main package or makes its runtime itself, registers
by constant names only, loads no document that cannot be seen, and imports no other package that uses Cocoon. What the policy's verifier only
warns about is reported as questionable.`,
	Requires:  []*analysis.Analyzer{inspect.Analyzer},
	FactTypes: []analysis.Fact{(*flows)(nil)},
	Run:       runPolicy,
}

func runPolicy(pass *analysis.Pass) (any, error) {
	if !uses(pass.Pkg, cocoonPath, policyPath, documentPath) {
		return nil, nil
	}
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	c := &specCheck{pass: pass, registered: findRegistered(pass, in), amended: map[string]bool{}, given: map[*ast.CompositeLit]string{},
		vars: findVariables(pass), flows: map[types.Object][]flow{}, files: map[string]*token.File{}}
	var literals []*ast.CompositeLit
	var calls []*ast.CallExpr
	var texts []ast.Expr // assigned to fields Expr
	in.Preorder([]ast.Node{(*ast.CompositeLit)(nil), (*ast.CallExpr)(nil), (*ast.AssignStmt)(nil), (*ast.UnaryExpr)(nil)}, func(n ast.Node) {
		if inTest(pass, n.Pos()) {
			return
		}
		switch n := n.(type) {
		case *ast.CompositeLit:
			if isSpec(pass.TypesInfo.TypeOf(n)) {
				literals = append(literals, n)
			}
		case *ast.CallExpr:
			calls = append(calls, n)
			c.noteCall(n)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				c.share(n.X)
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if c.amend(left) == "Expr" && len(n.Lhs) == len(n.Rhs) {
					texts = append(texts, n.Rhs[i])
				}
			}
		}
	})
	c.findFlows(literals, calls)
	documents, all := c.findDocuments(calls)
	c.addStates(documents)
	c.registered.allStates = c.registered.allStates && all
	for _, l := range documents {
		c.checkDocument(l)
	}
	for _, lit := range literals {
		c.check(lit)
	}
	for _, text := range texts {
		c.checkText(text, anyTrigger, nil, true)
	}
	for _, call := range calls {
		c.checkCall(call)
	}
	return nil, nil
}

// checkCall checks the expressions passed to a function that makes policies of them.
func (c *specCheck) checkCall(call *ast.CallExpr) {
	for _, f := range c.flowsOf(call) {
		if f.What == "expr" && f.Param < len(call.Args) {
			f = c.through(f, call)
			c.checkText(call.Args[f.Param], f.trigger(), f.Private, f.Open)
		}
	}
}

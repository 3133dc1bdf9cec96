package vet

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Err is the checker cocoonerr.
var Err = &analysis.Analyzer{
	Name: "cocoonerr",
	URL:  docs,
	Doc: `report errors of registrations that nobody looks at

A policy that is refused protects nobody, and a function that is not registered is not safe. The program runs on without
them, so the error is the only sign:

	// bad
	rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "regex.match", Limit: limit})

	// good
	if _, err := rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "regex.match", Limit: limit}); err != nil {
		return err
	}

The checker reports calls of Register..., LoadPolicies, LoadPolicyFile,
WatchPolicyFile and Registration.Update as statements of their own. An error
that is assigned to _ was thrown away on purpose.`,
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      runErr,
}

func runErr(pass *analysis.Pass) (any, error) {
	if !uses(pass.Pkg, cocoonPath) {
		return nil, nil
	}
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.Preorder([]ast.Node{(*ast.ExprStmt)(nil)}, func(n ast.Node) {
		call, ok := ast.Unparen(n.(*ast.ExprStmt).X).(*ast.CallExpr)
		if !ok || !endsInError(pass.TypesInfo.TypeOf(call)) {
			return
		}
		if name := calleeIn(pass.TypesInfo, call, cocoonPath); registers(name) {
			report(pass, analysis.Diagnostic{Pos: call.Pos(), End: call.End(),
				Message: "the error of " + name + " is not looked at: what it refuses is not in force"})
		}
	})
	return nil, nil
}

// registers reports whether the named function of package cocoon registers something.
func registers(name string) bool {
	if name == "Registration.Update" {
		return true
	}
	name = strings.TrimPrefix(name, "Runtime.")
	return name == "LoadPolicies" || name == "LoadPolicyFile" || name == "WatchPolicyFile" || strings.HasPrefix(name, "Register")
}

// endsInError reports whether the last result of a call is an error.
func endsInError(t types.Type) bool {
	if results, ok := t.(*types.Tuple); ok && results.Len() > 0 {
		t = results.At(results.Len() - 1).Type()
	}
	return types.Identical(t, types.Universe.Lookup("error").Type())
}

// Package vet checks Go code that uses Cocoon, before it runs. It provides the analyzers of the
// command cocoonvet, which work with any driver of golang.org/x/tools/go/analysis.
//
// # The analyzers
//
// [Policy] reports policies that will be refused, [Lock] safe points under a lock, [Ctx] tasks with
// the context of another task, and [Err] ignored errors of registrations.
//
// # What they see
//
// The analyzers recognise package cocoon by its import path and its names. They skip packages that
// do not import Cocoon, and test files, which intentionally do what a program should not. They
// report only what they are sure of: unknown values count as correct.
//
// # Adding an analyzer
//
// [Err] is the shortest model. An analyzer has a file of its own. It stands in [Analyzers], in the
// list above and in example_test.go. It has a folder of its name in testdata/src, with lines of
// code, and comments "// want" with its reports about them. Code in testdata uses fakes of Cocoon's
// packages, which a test compares with the packages. Checks of the text of a policy belong
// elsewhere, and cocoonpolicy reports what they find: errors of parsing belong to internal/lang,
// checks of documents to policy/document, and proofs and warnings to package analyzer.
package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// Analyzers are all analyzers, sorted by name.
var Analyzers = []*analysis.Analyzer{Ctx, Err, Lock, Policy}

// Import paths of packages known to the checkers.
const (
	modulePath    = "github.com/cocoon-go/cocoon"
	cocoonPath    = modulePath + "/cocoon"
	policyPath    = modulePath + "/policy"
	documentPath  = policyPath + "/document"
	safepointPath = modulePath + "/safepoint"
)

const docs = "https://pkg.go.dev/" + modulePath + "/analyzer/vet"

// pathOf returns a package's import path, also for a variant compiled for a test: "p [p.test]".
func pathOf(p *types.Package) string {
	path, _, _ := strings.Cut(p.Path(), " ")
	return path
}

// uses reports whether the package has or imports one of the paths.
func uses(p *types.Package, paths ...string) bool {
	known := func(p *types.Package) bool { return slices.Contains(paths, pathOf(p)) }
	return known(p) || slices.ContainsFunc(p.Imports(), known)
}

// isNamed reports whether t is the named type of that package.
func isNamed(t types.Type, path, name string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && isObject(named.Obj(), path, name)
}

// isObject reports whether the object is the named package-level object.
func isObject(o types.Object, path, name string) bool {
	return o != nil && o.Name() == name && o.Pkg() != nil && o.Parent() == o.Pkg().Scope() && pathOf(o.Pkg()) == path
}

// calleeIn returns the name of the called function or method if the package at that path declares
// it: "SafePoint", "Runtime.Run". Otherwise it returns "".
func calleeIn(info *types.Info, call *ast.CallExpr, path string) string {
	f, ok := typeutil.Callee(info, call).(*types.Func)
	if !ok {
		return ""
	}
	return nameIn(f, path)
}

// nameIn returns the name for calleeIn.
func nameIn(f *types.Func, path string) string {
	if f.Pkg() == nil || pathOf(f.Pkg()) != path {
		return ""
	}
	recv := f.Signature().Recv()
	if recv == nil {
		return f.Name()
	}
	t := recv.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name() + "." + f.Name()
	}
	return "" // a method of an interface without a name
}

// report reports a diagnostic, except in test files.
func report(pass *analysis.Pass, d analysis.Diagnostic) {
	if !inTest(pass, d.Pos) {
		pass.Report(d)
	}
}

// inTest reports whether the position is in a test file.
func inTest(pass *analysis.Pass, pos token.Pos) bool {
	return strings.HasSuffix(pass.Fset.File(pos).Name(), "_test.go")
}

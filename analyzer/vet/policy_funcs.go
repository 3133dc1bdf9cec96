package vet

import (
	"go/ast"
	"go/types"
	"strings"
)

// funcName returns the full name under which policies may call the registered function. It returns
// "" if they may not call it, because only a name is registered or the function has other
// parameters. ok is false if this is unknown.
func funcName(info *types.Info, e ast.Expr) (name string, ok bool) {
	e = ast.Unparen(e)
	t := info.TypeOf(e)
	if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
		return "", true
	}
	if lit, ok := e.(*ast.CompositeLit); ok && isNamed(t, cocoonPath, "Func") {
		return constantText(info, fieldsOf(info, lit)["Name"])
	}
	signature, ok := types.Unalias(t).(*types.Signature)
	if !ok {
		return "", false
	}
	if !callable(signature) {
		return "", true
	}
	if f := functionOf(info, e); f != nil {
		return runtimeName(f), true
	}
	return "", false
}

// runtimeName returns the result of cocoon.FuncName for the function.
func runtimeName(f *types.Func) string {
	pkg := pathOf(f.Pkg())
	if f.Pkg().Name() == "main" {
		pkg = "main"
	}
	recv := f.Signature().Recv()
	if recv == nil {
		return pkg + "." + f.Name()
	}
	t := types.TypeString(recv.Type(), func(*types.Package) string { return "" })
	if strings.HasPrefix(t, "*") {
		t = "(" + t + ")"
	}
	return pkg + "." + t + "." + f.Name()
}

// functionOf returns the declared function that an expression names.
func functionOf(info *types.Info, e ast.Expr) *types.Func {
	switch e := e.(type) {
	case *ast.Ident:
		f, _ := info.Uses[e].(*types.Func)
		return f
	case *ast.SelectorExpr:
		f, _ := info.Uses[e.Sel].(*types.Func)
		return f
	}
	return nil
}

// callable reports whether policies may call a function of that type: func() or
// func(context.Context).
func callable(s *types.Signature) bool {
	if s.Results().Len() > 0 || s.Variadic() || s.Params().Len() > 1 {
		return false
	}
	return s.Params().Len() == 0 || isNamed(s.Params().At(0).Type(), "context", "Context")
}

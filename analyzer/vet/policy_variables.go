package vet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// variables holds the known values of a package's variables.
type variables struct {
	values  map[types.Object]ast.Expr // their initial values
	changed map[types.Object]bool     // they may get other values later
	params  map[types.Object]param
	consts  map[types.Object]ast.Expr // for constants, the values in their declarations
	ranges  map[types.Object]ast.Expr // for loop variables, the value of the range clause
}

// param is a parameter of a declared function, or of a function held by a variable.
type param struct {
	of    types.Object
	index int
}

// findVariables reads all variables of a package.
func findVariables(pass *analysis.Pass) *variables {
	v := &variables{map[types.Object]ast.Expr{}, map[types.Object]bool{}, map[types.Object]param{}, map[types.Object]ast.Expr{}, map[types.Object]ast.Expr{}}
	for _, f := range pass.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				v.declare(pass.TypesInfo, n)
			case *ast.ValueSpec:
				for i, name := range n.Names {
					v.define(pass.TypesInfo, name, i, n.Values)
				}
			case *ast.AssignStmt:
				for i, left := range n.Lhs {
					v.assign(pass.TypesInfo, left, i, n)
				}
			case *ast.RangeStmt:
				v.iterate(pass.TypesInfo, n)
			case *ast.IncDecStmt:
				v.change(pass.TypesInfo, n.X)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					v.change(pass.TypesInfo, n.X)
				}
			}
			return true
		})
	}
	return v
}

func (v *variables) declare(info *types.Info, f *ast.FuncDecl) {
	if fn, ok := info.Defs[f.Name].(*types.Func); ok {
		v.takes(fn, fn.Signature())
	}
}

// takes records the parameters of a function.
func (v *variables) takes(fn types.Object, s *types.Signature) {
	for i := range s.Params().Len() {
		if !s.Variadic() || i < s.Params().Len()-1 {
			v.params[s.Params().At(i)] = param{fn, i}
		}
	}
}

// define records the declaration of a name.
func (v *variables) define(info *types.Info, name *ast.Ident, i int, values []ast.Expr) {
	o := info.Defs[name]
	var value ast.Expr
	switch {
	case o == nil:
		return
	case i < len(values):
		value = values[i]
	case i == 0 && len(values) == 1:
		value = values[0]
	default:
		return
	}
	if _, ok := o.(*types.Const); ok {
		v.consts[o] = value
	} else {
		v.values[o] = value
	}
	if lit, ok := value.(*ast.FuncLit); ok {
		v.takes(o, info.TypeOf(lit).(*types.Signature))
	}
}

// iterate records the variables of a loop.
func (v *variables) iterate(info *types.Info, n *ast.RangeStmt) {
	if n.Tok == token.DEFINE {
		if name, ok := n.Value.(*ast.Ident); ok && info.Defs[name] != nil {
			v.ranges[info.Defs[name]] = n.X
		}
		return
	}
	v.change(info, n.Key)
	v.change(info, n.Value)
}

func (v *variables) assign(info *types.Info, left ast.Expr, i int, n *ast.AssignStmt) {
	name, ok := left.(*ast.Ident)
	if ok && n.Tok == token.DEFINE && info.Defs[name] != nil {
		if len(n.Rhs) == len(n.Lhs) || i == 0 {
			v.define(info, name, min(i, len(n.Rhs)-1), n.Rhs)
		}
		return
	}
	v.change(info, left)
}

// change records that the variable behind e is written, or may be.
func (v *variables) change(info *types.Info, e ast.Expr) {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			if o := info.ObjectOf(x); o != nil {
				v.changed[o] = true
			}
			return
		case *ast.SelectorExpr: // a part of it
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return
		}
	}
}

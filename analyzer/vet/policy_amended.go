package vet

import (
	"go/ast"
	"go/types"
	"slices"
)

// amend records that a field of a policy.Spec, or a part of one, is written. It returns the field
// if the whole field is written.
func (c *specCheck) amend(e ast.Expr) (field string) {
	for inner := ast.Unparen(e); ; {
		switch x := inner.(type) {
		case *ast.SelectorExpr:
			if isSpecField(c.pass.TypesInfo.Uses[x.Sel]) {
				c.amended[x.Sel.Name] = true
				if ast.Unparen(e) == x {
					field = x.Sel.Name
				}
			}
			inner = ast.Unparen(x.X)
		case *ast.IndexExpr:
			inner = ast.Unparen(x.X)
		case *ast.StarExpr:
			inner = ast.Unparen(x.X)
		default:
			return field
		}
	}
}

// share records that code takes the address of a policy.Spec, or of a part of one.
func (c *specCheck) share(e ast.Expr) {
	if _, literal := ast.Unparen(e).(*ast.CompositeLit); !literal && isSpec(c.pass.TypesInfo.TypeOf(e)) {
		for _, field := range specFields {
			c.amended[field] = true
		}
	}
	c.amend(e)
}

var specFields = []string{"Name", "On", "Expr", "Mode", "Match", "State"}

// isSpec reports whether t is policy.Spec or a pointer to it.
func isSpec(t types.Type) bool {
	if t == nil {
		return false
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	return isNamed(t, policyPath, "Spec")
}

// isSpecField reports whether the object is a field of policy.Spec, even if it is reached through a
// struct that embeds policy.Spec.
func isSpecField(o types.Object) bool {
	field, ok := o.(*types.Var)
	if !ok || !field.IsField() || pathOf(field.Pkg()) != policyPath {
		return false
	}
	spec, ok := field.Pkg().Scope().Lookup("Spec").Type().Underlying().(*types.Struct)
	return ok && slices.Contains(slices.Collect(spec.Fields()), field)
}

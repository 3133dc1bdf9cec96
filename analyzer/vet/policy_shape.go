package vet

import (
	"go/ast"
	"go/constant"
	"go/types"
	"maps"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// shape is a state's declaration as policies need it.
type shape struct {
	stubs.Type
	lang.Table
}

// anyShape is all that a state can be.
var anyShape = shapes()

func shapes() (all []shape) {
	for _, keyed := range []bool{false, true} {
		for _, t := range []stubs.Type{stubs.Bool, stubs.Int, stubs.Float, stubs.Duration} {
			all = append(all, shape{t, lang.Table{Keyed: keyed}})
		}
		all = append(all, shape{stubs.Float, lang.Table{Keyed: keyed, Burst: policy.MaxBurst}})
	}
	return all
}

// shapeOf returns the declared shape, as in a document.
func shapeOf(declared any) shape {
	s, _ := policy.StateOf(declared)
	return shape{s.Type, s.Table()}
}

// in returns the env with the state.
func (s shape) in(env lang.Env, name string) lang.Env {
	env.States, env.Tables = maps.Clone(env.States), maps.Clone(env.Tables)
	env.Declare(name, s.Type, s.Table)
	return env
}

// shapesIn returns what a state may be that Go code declares so.
func shapesIn(info *types.Info, e ast.Expr) []shape {
	t := info.TypeOf(e)
	lit, _ := ast.Unparen(e).(*ast.CompositeLit)
	switch {
	case isNamed(t, policyPath, "Bucket"):
		return []shape{{stubs.Float, lang.Table{Burst: burstIn(info, lit)}}}
	case isNamed(t, policyPath, "PerLoop") && lit != nil:
		if first := fieldsOf(info, lit)["First"]; first != nil {
			return shapesIn(info, first)
		}
	case isNamed(t, policyPath, "Keyed") && lit != nil:
		all := []shape{{Type: stubs.Int}}
		if first := fieldsOf(info, lit)["First"]; first != nil {
			all = shapesIn(info, first)
		}
		keyed := make([]shape, 0, len(all))
		by := keyTypesIn(info, lit)
		for _, s := range all {
			s.Keyed, s.By = true, by
			keyed = append(keyed, s)
		}
		return keyed
	}
	if v, ok := zeroOf(t); ok {
		if _, t, err := stubs.Word(v); err == nil {
			return []shape{{Type: t}}
		}
	}
	return anyShape
}

// burstIn returns a bucket's capacity, as far as it is known.
func burstIn(info *types.Info, lit *ast.CompositeLit) float64 {
	if lit != nil {
		if e := fieldsOf(info, lit)["Burst"]; e != nil && info.Types[e].Value != nil {
			if burst, _ := constant.Float64Val(constant.ToFloat(info.Types[e].Value)); burst > 0 {
				return burst
			}
		}
	}
	return policy.MaxBurst
}

// keyTypesIn returns the types of a policy.Keyed's keys, or zero if they are not known.
func keyTypesIn(info *types.Info, lit *ast.CompositeLit) ir.KeyTypes {
	var by []string
	if e := fieldsOf(info, lit)["By"]; e != nil {
		list, ok := e.(*ast.CompositeLit)
		if !ok {
			return ir.KeyTypes{}
		}
		for _, e := range list.Elts {
			text, constant := constantText(info, e)
			if !constant {
				return ir.KeyTypes{}
			}
			by = append(by, text)
		}
	}
	s, _ := policy.StateOf(policy.Keyed{Keys: 1, By: by})
	return s.By
}

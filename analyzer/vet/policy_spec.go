package vet

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"time"

	"golang.org/x/tools/go/analysis"

	"github.com/cocoon-go/cocoon/policy"
)

// specCheck checks the literals of policy.Spec in one package.
type specCheck struct {
	pass       *analysis.Pass
	registered registered
	amended    map[string]bool              // fields assigned somewhere: a literal does not determine them
	given      map[*ast.CompositeLit]string // literals passed to RegisterPolicy or Update, and to which
	vars       *variables
	flows      map[types.Object][]flow // of functions of the package
	files      map[string]*token.File  // of documents
}

// noteCall records a literal passed directly to a registration.
func (c *specCheck) noteCall(call *ast.CallExpr) {
	switch name := calleeIn(c.pass.TypesInfo, call, cocoonPath); name {
	case "RegisterPolicy", "Runtime.RegisterPolicy", "Registration.Update":
		if lit, ok := ast.Unparen(call.Args[0]).(*ast.CompositeLit); ok {
			c.given[lit] = name
		}
	}
}

// check checks one literal: first each part on its own, so that an error is reported at the part,
// and then the expression.
func (c *specCheck) check(lit *ast.CompositeLit) {
	fields := fieldsOf(c.pass.TypesInfo, lit)
	for name := range c.amended {
		if c.given[lit] == "" {
			delete(fields, name)
		}
	}
	c.checkAbsent(lit, fields)
	if v, ok := c.text(fields["Name"]); ok && (v != "" || c.given[lit] != "Registration.Update") {
		c.validate(fields["Name"], func(s *policy.Spec) { s.Name = v })
	}
	if v, ok := c.integer(fields["Mode"]); ok && v == int64(policy.Mode(v)) {
		c.validate(fields["Mode"], func(s *policy.Spec) { s.Mode = policy.Mode(v) })
	}
	if v, ok := c.text(fields["Zone"]); ok {
		c.validate(fields["Zone"], func(s *policy.Spec) { s.Zone = v })
	}
	c.checkMatch(fields["Match"])
	on := anyTrigger
	if e := fields["On"]; e != nil {
		on = c.trigger(c.follow(e))
		if on.exact {
			c.validate(e, func(s *policy.Spec) { s.On = on.Trigger })
		}
	}
	if !c.amended["Match"] || c.given[lit] != "" {
		on.match = c.match(fields["Match"])
	}
	private, allSeen := c.privateStates(fields["State"])
	if e := fields["Expr"]; e != nil {
		c.checkText(e, on, private, !allSeen || c.amended["State"] && c.given[lit] == "")
	}
}

// checkAbsent reports fields missing from a literal passed directly to a registration.
func (c *specCheck) checkAbsent(lit *ast.CompositeLit, fields map[string]ast.Expr) {
	var missing string
	switch by := c.given[lit]; {
	case by == "":
		return
	case fields["Name"] == nil && by != "Registration.Update":
		missing = "Name; give it one, as in \"limit-regex\""
	case fields["On"] == nil:
		missing = "On, and is never evaluated; say when with Every, On or OnCustom"
	case fields["Expr"] == nil:
		missing = "Expr; write continue() for a policy that does nothing"
	default:
		return
	}
	report(c.pass, analysis.Diagnostic{Pos: lit.Pos(), End: lit.End(), Message: "the policy has no " + missing})
}

// validate reports the errors of a policy.Spec in which only that part is not known to be valid.
func (c *specCheck) validate(part ast.Node, set func(*policy.Spec)) {
	s := policy.Spec{Name: "policy", On: policy.Every(time.Second)}
	set(&s)
	err := s.Validate()
	if cause := errors.Unwrap(err); cause != nil {
		err = cause // without the policy's name
	}
	if err != nil {
		report(c.pass, analysis.Diagnostic{Pos: part.Pos(), End: part.End(), Message: err.Error()})
	}
}

// checkMatch checks the lists of a policy.Match.
func (c *specCheck) checkMatch(e ast.Expr) {
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return
	}
	fields := fieldsOf(c.pass.TypesInfo, lit)
	c.checkList(fields["Loops"], func(s *policy.Spec, list []string) { s.Match.Loops = list })
	c.checkList(fields["Tasks"], func(s *policy.Spec, list []string) { s.Match.Tasks = list })
	c.checkList(fields["Except"], func(s *policy.Spec, list []string) { s.Match.Except = list })
	c.checkList(fields["Kinds"], func(s *policy.Spec, list []string) { s.Match.Kinds = list })
}

// match returns a policy.Match of constants; the zero Match if parts of it are not known.
func (c *specCheck) match(e ast.Expr) (m policy.Match) {
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return m
	}
	fields := fieldsOf(c.pass.TypesInfo, lit)
	for name, to := range map[string]*[]string{"Loops": &m.Loops, "Tasks": &m.Tasks, "Except": &m.Except, "Kinds": &m.Kinds} {
		if fields[name] == nil {
			continue
		}
		list, ok := fields[name].(*ast.CompositeLit)
		if !ok {
			return policy.Match{}
		}
		for _, e := range list.Elts {
			v, ok := c.text(e)
			if !ok {
				return policy.Match{}
			}
			*to = append(*to, v)
		}
	}
	return m
}

func (c *specCheck) checkList(e ast.Expr, set func(*policy.Spec, []string)) {
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return
	}
	for _, e := range lit.Elts {
		if v, ok := c.text(e); ok {
			c.validate(e, func(s *policy.Spec) { set(s, []string{v}) })
		}
	}
}

// privateStates reads the field State. It reports whether it has seen all names.
func (c *specCheck) privateStates(e ast.Expr) (states map[string][]shape, all bool) {
	if e == nil {
		return nil, true
	}
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return nil, false
	}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		name, named := c.text(kv.Key)
		v, typed := zeroOf(c.pass.TypesInfo.TypeOf(kv.Value))
		if named && typed {
			c.validate(kv, func(s *policy.Spec) { s.State = map[string]any{name: v} })
		}
	}
	return statesIn(c.pass.TypesInfo, lit)
}

// fieldsOf returns the values of a struct literal by the names of their fields.
func fieldsOf(info *types.Info, lit *ast.CompositeLit) map[string]ast.Expr {
	fields := map[string]ast.Expr{}
	under := info.TypeOf(lit).Underlying()
	if p, ok := under.(*types.Pointer); ok { // an element {...} of a []*T
		under = p.Elem().Underlying()
	}
	t, ok := under.(*types.Struct)
	for i, e := range lit.Elts {
		if kv, isKeyed := e.(*ast.KeyValueExpr); isKeyed {
			if key, ok := kv.Key.(*ast.Ident); ok {
				fields[key.Name] = ast.Unparen(kv.Value)
			}
		} else if ok && i < t.NumFields() {
			fields[t.Field(i).Name()] = ast.Unparen(e)
		}
	}
	return fields
}

// text returns the value of a constant string.
func (c *specCheck) text(e ast.Expr) (string, bool) { return constantText(c.pass.TypesInfo, e) }

func constantText(info *types.Info, e ast.Expr) (string, bool) {
	if e == nil {
		return "", false
	}
	v := info.Types[e].Value
	if v == nil || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}

// integer returns the value of a constant integer.
func (c *specCheck) integer(e ast.Expr) (int64, bool) {
	if e == nil {
		return 0, false
	}
	v := c.pass.TypesInfo.Types[e].Value
	if v == nil {
		return 0, false
	}
	return constant.Int64Val(constant.ToInt(v))
}

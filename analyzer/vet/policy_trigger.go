package vet

import (
	"go/ast"
	"go/types"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// trigger describes, as far as known, when a policy is evaluated, and for which tasks.
type trigger struct {
	policy.Trigger               // if exact
	exact          bool          // the trigger is known completely
	on             []stubs.Event // the possible sets of notifications
	match          policy.Match  // zero if it is not known
}

// anyTrigger is an unknown trigger. An expression rejected for each single notification is rejected
// for all sets of notifications.
var anyTrigger = func() trigger {
	t := trigger{}
	for e := stubs.Tick; e <= stubs.Custom; e <<= 1 {
		t.on = append(t.on, e)
	}
	return t
}()

func exactly(t policy.Trigger) trigger {
	if t.Set() == 0 { // invalid itself; its expression may be right
		return trigger{Trigger: t, exact: true, on: anyTrigger.on}
	}
	return trigger{Trigger: t, exact: true, on: []stubs.Event{t.Set()}}
}

// trigger reads the expression of a policy's trigger.
func (c *specCheck) trigger(e ast.Expr) trigger {
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 {
		return c.made(call)
	}
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return anyTrigger
	}
	v := c.pass.TypesInfo.Uses[sel.Sel]
	name, isEvent := strings.CutPrefix(sel.Sel.Name, "On")
	if event := stubs.EventNamed(strings.ToLower(name)); isEvent && event != 0 && isVariable(v, cocoonPath) {
		return exactly(policy.On(event))
	}
	return anyTrigger
}

// made reads a call that makes a trigger.
func (c *specCheck) made(call *ast.CallExpr) trigger {
	arg := call.Args[0]
	switch c.constructor(call) {
	case "Every":
		if v, ok := c.integer(arg); ok {
			return exactly(policy.Every(time.Duration(v)))
		}
		return trigger{on: []stubs.Event{stubs.Tick}}
	case "On":
		if v, ok := c.integer(arg); ok {
			return exactly(policy.On(stubs.Event(v)))
		}
	case "OnCustom":
		if name, ok := c.text(arg); ok && name != "" {
			return exactly(policy.OnCustom(name))
		}
		return trigger{on: []stubs.Event{stubs.Custom}}
	}
	return anyTrigger
}

// constructor returns the name of the function of package policy to which the call is equivalent.
func (c *specCheck) constructor(call *ast.CallExpr) string {
	switch name := calleeIn(c.pass.TypesInfo, call, cocoonPath); name {
	case "Every":
		return name
	case "OnNotify":
		return "OnCustom"
	}
	return calleeIn(c.pass.TypesInfo, call, policyPath)
}

// isVariable reports whether the object is a variable of that package.
func isVariable(o types.Object, path string) bool {
	v, ok := o.(*types.Var)
	return ok && isObject(v, path, v.Name())
}

package vet

import (
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// flows describes how a function that helps to register policies uses its parameters. It is a fact,
// because such a function and its callers may be in different packages.
type flows struct{ Flows []flow }

func (*flows) AFact() {}

// flow describes the use of one parameter.
type flow struct {
	Param int
	What  string // "expr", "document" (its text, or a reader of it) or "file" (its path)

	// For an expression: when it is evaluated, and its private states.
	Interval time.Duration
	On       []stubs.Event
	OnParam  int // the parameter that says when, or -1
	Private  map[string][]shape
	Open     bool // there may be other private states
}

// follow returns the value of a variable that the package assigns once, and any other expression
// unchanged.
func (c *specCheck) follow(e ast.Expr) ast.Expr {
	for range 8 { // variables may refer to each other in a circle
		e = ast.Unparen(e)
		name, ok := e.(*ast.Ident)
		if !ok {
			return e
		}
		o := c.pass.TypesInfo.ObjectOf(name)
		value := c.vars.values[o]
		if value == nil || c.vars.changed[o] || o.Exported() && o.Parent() == c.pass.Pkg.Scope() {
			return e
		}
		e = value
	}
	return e
}

// alternatives returns the values of an expression in a loop over a literal: for each element, the
// element or a field of it.
func (c *specCheck) alternatives(e ast.Expr) (all []ast.Expr) {
	field := ""
	if sel, ok := ast.Unparen(e).(*ast.SelectorExpr); ok {
		e, field = sel.X, sel.Sel.Name
	}
	name, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	o := c.pass.TypesInfo.ObjectOf(name)
	over := c.vars.ranges[o]
	if over == nil || c.vars.changed[o] {
		return nil
	}
	list, ok := c.follow(over).(*ast.CompositeLit)
	if !ok {
		return nil
	}
	for _, element := range list.Elts {
		if kv, ok := element.(*ast.KeyValueExpr); ok {
			element = kv.Value
		}
		if field == "" {
			all = append(all, element)
		} else if lit, ok := element.(*ast.CompositeLit); ok && !isSpec(c.pass.TypesInfo.TypeOf(lit)) {
			if e := fieldsOf(c.pass.TypesInfo, lit)[field]; e != nil {
				all = append(all, e)
			}
		}
	}
	return all
}

// paramOf returns the parameter in an expression: text, []byte(text), strings.NewReader(text).
func (c *specCheck) paramOf(e ast.Expr) (param, bool) {
	e = c.follow(e)
	switch e := e.(type) {
	case *ast.Ident:
		o := c.pass.TypesInfo.ObjectOf(e)
		p, ok := c.vars.params[o]
		return p, ok && !c.vars.changed[o]
	case *ast.CallExpr:
		if len(e.Args) == 1 && (c.isConversion(e) || readers[c.calleeName(e)]) {
			return c.paramOf(e.Args[0])
		}
	}
	return param{}, false
}

func (c *specCheck) isConversion(call *ast.CallExpr) bool {
	return c.pass.TypesInfo.Types[call.Fun].IsType()
}

// calleeName returns the name of the function called: "strings.NewReader", "embed.FS.Open".
func (c *specCheck) calleeName(call *ast.CallExpr) string {
	f, ok := typeutil.Callee(c.pass.TypesInfo, call).(*types.Func)
	if !ok || f.Pkg() == nil {
		return ""
	}
	return pathOf(f.Pkg()) + "." + nameIn(f, pathOf(f.Pkg()))
}

// sinks are the functions that take documents, the parameter in which they take them, and the form.
var sinks = map[string]flow{
	cocoonPath + ".Runtime.LoadPolicies":    {What: "document", OnParam: -1},
	documentPath + ".Read":                  {What: "document", OnParam: -1},
	cocoonPath + ".Runtime.LoadPolicyFile":  {What: "file", OnParam: -1},
	cocoonPath + ".Runtime.WatchPolicyFile": {What: "file", Param: 1, OnParam: -1},
	cocoonPath + ".Runtime.CheckPolicyFile": {What: "file", OnParam: -1},
}

// flowsOf describes the use of the arguments of a call.
func (c *specCheck) flowsOf(call *ast.CallExpr) []flow {
	if f, ok := sinks[c.calleeName(call)]; ok {
		return []flow{f}
	}
	callee := typeutil.Callee(c.pass.TypesInfo, call)
	f, ok := callee.(*types.Func)
	switch {
	case !ok && c.vars.changed[callee]:
		return nil
	case !ok:
		return c.flows[callee]
	case f.Pkg() == c.pass.Pkg:
		return c.flows[f.Origin()]
	}
	var known flows
	c.pass.ImportObjectFact(f.Origin(), &known)
	return known.Flows
}

// findFlows finds the functions of the package that help to register policies, directly or through
// each other, and exports them as facts.
func (c *specCheck) findFlows(literals []*ast.CompositeLit, calls []*ast.CallExpr) {
	for grown := true; grown; {
		grown = false
		add := func(e ast.Expr, f flow) {
			p, ok := c.paramOf(e)
			if !ok {
				return
			}
			f.Param = p.index
			if !slices.ContainsFunc(c.flows[p.of], func(g flow) bool { return reflect.DeepEqual(f, g) }) {
				c.flows[p.of] = append(c.flows[p.of], f)
				grown = true
			}
		}
		for _, lit := range literals {
			if e := fieldsOf(c.pass.TypesInfo, lit)["Expr"]; e != nil && (!c.amended["Expr"] || c.given[lit] != "") {
				add(e, c.flowOf(lit))
			}
		}
		for _, call := range calls {
			for _, f := range c.flowsOf(call) {
				if f.Param < len(call.Args) {
					add(call.Args[f.Param], c.through(f, call))
				}
			}
		}
	}
	for o, all := range c.flows {
		if f, ok := o.(*types.Func); ok && f.Exported() {
			c.pass.ExportObjectFact(f, &flows{all})
		}
	}
}

// flowOf describes how the expression of a literal is evaluated.
func (c *specCheck) flowOf(lit *ast.CompositeLit) flow {
	fields := fieldsOf(c.pass.TypesInfo, lit)
	f := flow{What: "expr", On: anyTrigger.on, OnParam: -1, Open: c.amended["State"] && c.given[lit] == ""}
	if e := fields["On"]; e != nil && (!c.amended["On"] || c.given[lit] != "") {
		on := c.trigger(c.follow(e))
		f.On, f.Interval = on.on, on.Interval
		if p, ok := c.paramOf(e); ok {
			f.OnParam = p.index
		}
	}
	if e := fields["State"]; e != nil {
		var all bool
		f.Private, all = statesIn(c.pass.TypesInfo, e) // a map in a variable may get other keys later
		f.Open = f.Open || !all
	}
	return f
}

// through translates a flow to the caller's own parameters. The call may decide when the expression
// is evaluated.
func (c *specCheck) through(f flow, call *ast.CallExpr) flow {
	if f.OnParam < 0 || f.OnParam >= len(call.Args) {
		f.OnParam = -1
		return f
	}
	arg := call.Args[f.OnParam]
	f.OnParam = -1
	if p, ok := c.paramOf(arg); ok {
		f.OnParam = p.index
		return f
	}
	on := c.trigger(c.follow(arg))
	f.On, f.Interval = on.on, on.Interval
	return f
}

// trigger returns the trigger of a flow.
func (f flow) trigger() trigger { return trigger{Trigger: policy.Every(f.Interval), on: f.On} }

// readers make readers of texts.
var readers = map[string]bool{"strings.NewReader": true, "bytes.NewReader": true, "bytes.NewBufferString": true, "bytes.NewBuffer": true,
	"io.NopCloser": true, "bufio.NewReader": true, "strings.TrimSpace": true}

// isLocalPath reports whether a path names a file relative to the source.
func isLocalPath(path string) bool { return path != "" && !strings.HasPrefix(path, "/") }

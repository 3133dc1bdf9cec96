// A main package that registers what cannot be seen, and changes its policies after they were made.
package main

import (
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

var private = map[string]any{"n": 0}

func name() string { return "some" }

func main() {
	err := cocoon.RegisterState(map[string]any{name(): 1, "mixed": 1})
	err = cocoon.RegisterState(map[string]any{"mixed": false})
	err = cocoon.RegisterSafeFunc(func() {})
	p := cocoon.Policy{Name: "a", On: cocoon.Every(time.Second), Expr: `state.x ? call("F") : continue()`}
	p.On = cocoon.OnEnqueue
	q := cocoon.Policy{Name: "b", On: cocoon.Every(1), Expr: `arriving.kind == "safe" ? switch() : continue()`}
	q.On = cocoon.OnEnqueue
	q.Match.Kinds = nil
	r := struct{ cocoon.Policy }{cocoon.Policy{Name: "no name", Expr: "continue()"}}
	r.Name = name()
	for _, p := range []cocoon.Policy{p, q, r.Policy,
		{Expr: `state.mixed ? switch() : continue()`},
		{Expr: `state.mixed > 1 ? switch() : continue()`},
		{Expr: `state.mixed == "a" ? switch() : continue()`}, // want `"a" is a string`
		{State: private, Expr: `state.n > 1 ? switch() : continue()`},
		{State: private, Expr: `state.n > 1 ? swich() : continue()`}, // want `there is no function swich`
	} {
		_, err = cocoon.RegisterPolicy(p)
	}
	_, err = cocoon.RegisterPolicy(cocoon.Policy{Name: "whole", On: cocoon.Every(1), Expr: "switch()"}) // want `the interval 1ns`
	_ = err
}

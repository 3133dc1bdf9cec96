// Package policyhelp helps others to register policies.
package policyhelp

import (
	_ "embed"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

//go:embed shared.yaml
var Shared string

const (
	Slow  = `task.runing > duration("1s") ? throw("slow") : continue()`
	Fine  = `task.running > duration("1s") ? throw("slow") : continue()`
	Order = "version: 1\norder: lifo\n"
)

// Must registers a policy that is evaluated each millisecond.
func Must(rt *cocoon.Runtime, name, expr string) { // want Must:"2 expr 1ms"
	On(rt, name, cocoon.Every(time.Millisecond), expr)
}

// On registers a policy.
func On(rt *cocoon.Runtime, name string, on cocoon.Trigger, expr string) { // want On:"3 expr"
	if _, err := rt.RegisterPolicy(cocoon.Policy{Name: name, On: on, Expr: expr, State: map[string]any{"mine": 0}}); err != nil {
		panic(err)
	}
}

// Load loads a document.
func Load(rt *cocoon.Runtime, text string) error { // want Load:"1 document"
	r := strings.NewReader(text)
	return rt.LoadPolicies(r)
}

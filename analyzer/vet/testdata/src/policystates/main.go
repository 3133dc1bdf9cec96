// A main package all of whose states are seen, those of its documents too.
package main

import (
	"strings"

	"github.com/cocoon-go/cocoon/cocoon"
)

func load(rt *cocoon.Runtime, text string) error { return rt.LoadPolicies(strings.NewReader(text)) }

func main() {
	rt, err := cocoon.New(cocoon.Config{})
	err = rt.RegisterState(map[string]any{"code": 1})
	err = load(rt, "version: 1\nstates: {document: 1.5}\n")
	err = load(rt, "version: 1\npolicies:\n  - {name: a, on: exit, expr: 'state.code > 1 and state.document > 1.5 and state.other ? set(\"code\", 1) : continue()'}\n") // want `policy "a": there is no state "other"`
	_, err = rt.RegisterPolicy(cocoon.Policy{Name: "b", On: cocoon.OnExit, Expr: `set("document", true)`})                                                              // want `the state document is a float and true is a bool`
	_, err = rt.RegisterPolicy(cocoon.Policy{Name: "c", On: cocoon.OnExit, Expr: `set("documents", 1.5)`})                                                              // want `there is no state "documents"; did you mean document\?`
	_ = err
}

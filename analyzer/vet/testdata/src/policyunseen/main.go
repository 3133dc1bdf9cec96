// A main package that loads what cannot be seen: any state may be in it.
package main

import (
	"os"
	"strings"

	"github.com/cocoon-go/cocoon/cocoon"
)

func load(rt *cocoon.Runtime, text string) error { return rt.LoadPolicies(strings.NewReader(text)) }

func main() {
	rt, err := cocoon.New(cocoon.Config{})
	err = load(rt, os.Args[1])
	err = rt.LoadPolicyFile("none.yaml")
	err = load(rt, "version: 1\npolicies:\n  - {name: a, on: exit, expr: 'state.other ? set(\"code\", 1) : continue()'}\n")
	err = load(rt, "version: 1\npolicies:\n  - {name: b, on: exit, expr: 'state.other ? set(\"other\", 1) : continue()'}\n") // want `policy "b": the state other is a`
	_ = err
}

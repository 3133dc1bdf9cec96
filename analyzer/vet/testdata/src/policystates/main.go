// A main package all of whose states are seen, those of its documents too.
package main

import (
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

func load(rt *cocoon.Runtime, text string) error { return rt.LoadPolicies(strings.NewReader(text)) }

func main() {
	rt, err := cocoon.New(cocoon.Config{})
	err = rt.RegisterState(map[string]any{"code": 1, "spent": cocoon.Keyed{First: time.Second, Keys: 10}, "counts": cocoon.Keyed{Keys: 10},
		"bucket": cocoon.Bucket{Rate: 1, Burst: 5}, "buckets": cocoon.Keyed{First: cocoon.Bucket{Rate: 1, Burst: 5}, Keys: 10}})
	err = load(rt, "version: 1\nstates: {document: 1.5}\n")
	err = load(rt, "version: 1\npolicies:\n  - {name: a, on: exit, expr: 'state.code > 1 and state.document > 1.5 and state.other ? set(\"code\", 1) : continue()'}\n")                                                                                                        // want `policy "a": there is no state "other"`
	_, err = rt.RegisterPolicy(cocoon.Policy{Name: "b", On: cocoon.OnExit, Expr: `set("document", true)`})                                                                                                                                                                     // want `the state document is a float and true is a bool`
	_, err = rt.RegisterPolicy(cocoon.Policy{Name: "c", On: cocoon.OnExit, Expr: `set("documents", 1.5)`})                                                                                                                                                                     // want `there is no state "documents"; did you mean document\?`
	_, err = rt.RegisterPolicy(cocoon.Policy{Name: "d", On: cocoon.OnExit, Expr: `set("spent", 1)`})                                                                                                                                                                           // want `the state spent has a value for each key; write set\("spent", tenant.name, value\), or another name as the key`
	_, err = rt.RegisterPolicy(cocoon.Policy{Name: "e", On: cocoon.OnExit, Expr: `add("spent", task.name, 1)`})                                                                                                                                                                // want `the state spent is a duration and 1 is a plain number`
	_, err = rt.RegisterPolicy(cocoon.Policy{Name: "f", On: cocoon.OnExit, Expr: `take("bucket", 6) ? set("code", 1) : continue()`})                                                                                                                                           // want `the bucket "bucket" holds 5 tokens, and never 6`
	_, err = rt.RegisterPolicy(cocoon.Policy{Name: "g", On: cocoon.OnExit, Expr: `take("own", task.name, 6) ? add("counts", task.name, 1) : continue()`, State: map[string]any{"own": cocoon.PerLoop{First: cocoon.Keyed{First: cocoon.Bucket{Rate: 1, Burst: 5}, Keys: 1}}}}) // want `the bucket "own" holds 5 tokens`
	_, err = rt.RegisterPolicy(cocoon.Policy{Name: "h", On: cocoon.OnExit, Expr: `take("buckets", task.name, 1) and state.buckets[task.name] >= 5 ? add("counts", task.name, 1) : continue()`})
	err = load(rt, "version: 1\nstates: {rates: {rate: 1, burst: 2, keys: 5}}\npolicies:\n  - {name: i, on: exit, expr: 'take(\"rates\", task.name, 3) ? set(\"code\", 1) : continue()'}\n") // want `policy "i": the bucket "rates" holds 2 tokens`

	by := []string{"int"}
	err = rt.RegisterState(map[string]any{"pairs": cocoon.Keyed{Keys: 10, By: []string{"name", "int"}}, "any": cocoon.Keyed{Keys: 10, By: by}})
	_, err = rt.RegisterPolicy(cocoon.Policy{Name: "j", On: cocoon.OnExit, Expr: `add("pairs", task.name, 3, state.any[1] + state.any[task.name])`})
	_, err = rt.RegisterPolicy(cocoon.Policy{Name: "k", On: cocoon.OnExit, Expr: `add("pairs", task.name, "3", 1)`}) // want `this key is a plain number that a state stub has, or a constant, and "3" is a string`
	_, err = rt.RegisterPolicy(cocoon.Policy{Name: "l", On: cocoon.OnExit, Expr: `add("pairs", task.name, 1)`})      // want `the key of the state pairs has 1 part here`
	_ = err
}

package analyzer

import (
	"maps"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Counts that an effect sets back, and whose rate a policy reads.
func TestSetBack(t *testing.T) {
	up := on(stubs.Exit, `task.cancelled ? add("served", 1) : continue()`)
	back := policy.Spec{On: policy.OnCustom("fine"), Expr: `set("served", 0)`}
	open := on(stubs.Enqueue, `rate("served", duration("10s")) * 10 > 4.0 and state.served >= 4 ? throw("x") : continue()`)
	const low = `set("served", 0) sets the count back, and rate("served", duration("10s")) takes the fall for growth below 0: it is too low until 10s have passed`
	states := maps.Clone(declared)
	states["served"], _ = policy.StateOf(0)
	checkFlows(t, Declared{States: states}, []flowCase{
		{"by an event", []policy.Spec{up, back, open}, low},
		{"never", []policy.Spec{up, open}, ""},
		{"off", []policy.Spec{up, in(policy.Off, back), open}, ""},
		{"the count is off", []policy.Spec{in(policy.Off, up), back, open}, ""},
		{"no rate", []policy.Spec{up, back, on(stubs.Enqueue, `state.served >= 4 ? throw("x") : continue()`)}, ""},
		{"no count", []policy.Spec{on(stubs.Exit, `set("served", queue.length)`), back, open}, ""},
	})
}

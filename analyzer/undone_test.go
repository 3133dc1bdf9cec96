package analyzer

import (
	"testing"

	"github.com/cocoon-go/cocoon/policy"
)

// Two policies on one custom event that set a state to two values.
func TestUndoneSets(t *testing.T) {
	event := func(name, expr string) policy.Spec { return policy.Spec{On: policy.OnCustom(name), Expr: expr} }
	const undone = `set("n", 1) does nothing: the policy "p1" is evaluated later on the same event, and sets the state to another value`
	set, clear := `set("n", 1)`, `set("n", 0)`
	checkFlows(t, Declared{}, []flowCase{
		{"one event", []policy.Spec{event("drain", set), event("drain", clear)}, undone},
		{"behind another effect", []policy.Spec{event("drain", set), event("drain", `add("limit", 1); set("n", 0)`)}, undone},
		{"two events", []policy.Spec{event("drain", set), event("undrain", clear)}, ""},
		{"the same value", []policy.Spec{event("drain", set), event("drain", set)}, ""},
		{"under a condition", []policy.Spec{event("drain", set), event("drain", `queue.length > 5 ? set("n", 0) : continue()`)}, ""},
		{"of other loops", []policy.Spec{of(policy.Match{Loops: []string{"a"}}, event("drain", set)), of(policy.Match{Loops: []string{"b"}}, event("drain", clear))}, ""},
		{"in another mode", []policy.Spec{event("drain", set), in(policy.Observe, event("drain", clear))}, ""},
	})
}

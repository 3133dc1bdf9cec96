package analyzer

import (
	"maps"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Two takes from one bucket for one task.
func TestTakesTwice(t *testing.T) {
	limit := func(events stubs.Event, cond string) policy.Spec {
		return on(events, cond+` ? throw("x") : continue()`)
	}
	one := limit(stubs.Enqueue, `not take("bucket", 1)`)
	urgent := limit(stubs.Enqueue, `arriving.priority < 5 and not take("bucket", 1)`)
	states := maps.Clone(declared)
	states["each"], _ = policy.StateOf(policy.Keyed{First: policy.Bucket{Rate: 1, Burst: 5}, Keys: 5})
	const second = `take("bucket", 1) takes a second time for each task: the policy "p0" has taken from this bucket on enqueue`
	checkFlows(t, Declared{States: states}, []flowCase{
		{"one", []policy.Spec{one}, ""},
		{"two", []policy.Spec{one, urgent}, second},
		{"the other way", []policy.Spec{urgent, one}, second},
		{"exclusive", []policy.Spec{urgent, limit(stubs.Enqueue, `arriving.priority >= 5 and not take("bucket", 1)`)}, ""},
		{"more for some", []policy.Spec{one, limit(stubs.Enqueue, `arriving.name == "export" and not take("bucket", 1)`)}, ""},
		{"more for a match", []policy.Spec{one, of(policy.Match{Tasks: []string{"export"}}, one)}, ""},
		{"another number", []policy.Spec{one, limit(stubs.Enqueue, `arriving.priority < 5 and not take("bucket", 3)`)}, ""},
		{"observed", []policy.Spec{one, in(policy.Observe, urgent)}, ""},
		{"on start", []policy.Spec{one, limit(stubs.Start, `task.priority < 5 and not take("bucket", 1)`)}, second},
		{"of each tenant", []policy.Spec{limit(stubs.Enqueue, `not take("each", arriving.name, 1)`), limit(stubs.Start, `not take("each", task.name, 1)`)}, `take("each", task.name, 1) takes a second time`},
		{"of other keys", []policy.Spec{limit(stubs.Enqueue, `not take("each", arriving.name, 1)`), limit(stubs.Enqueue, `not take("each", tenant.name, 1)`)}, ""},
		{"two events", []policy.Spec{on(stubs.Enqueue|stubs.Start, `not take("bucket", 1) ? throw("x") : continue()`)}, `take("bucket", 1) takes for each task more than once: the policy is evaluated on enqueue+start`},
		{"ticks", []policy.Spec{{On: policy.Trigger{Interval: 1e9}, Expr: `take("bucket", 1) ? set("n", queue.length) : continue()`}}, ""},
	})
}

package analyzer

import (
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Tokens of tasks that a later policy refuses.
func TestTokensOfRefusedTasks(t *testing.T) {
	refuse := func(cond string) policy.Spec { return on(stubs.Enqueue, cond+` ? throw("x") : continue()`) }
	rate, full := refuse(`not take("bucket", 1)`), refuse(`queue.length > 100`)
	reports := policy.Match{Tasks: []string{"report"}}
	const lost = `take("bucket", 1) has taken tokens when the policy "p1" refuses the task: they are lost`
	checkFlows(t, Declared{}, []flowCase{
		{"before", []policy.Spec{rate, full}, lost},
		{"behind", []policy.Spec{full, rate}, ""},
		{"of some tasks", []policy.Spec{of(reports, rate), full}, lost},
		{"of other tasks", []policy.Spec{of(reports, rate), of(policy.Match{Tasks: []string{"scan"}}, full)}, ""},
		{"where it lets all in", []policy.Spec{on(stubs.Enqueue, `arriving.priority > 5 or take("bucket", 1) ? continue() : throw("x")`), full}, lost},
		{"where it takes nothing", []policy.Spec{refuse(`arriving.priority < 5 and not take("bucket", 1)`), refuse(`arriving.priority >= 5 and queue.length > 100`)}, ""},
		{"at most five refusals", []policy.Spec{refuse(`queue.length > 5 and take("bucket", 1)`), full}, ""},
		{"another bucket", []policy.Spec{rate, refuse(`arriving.priority < 5 and not take("bucket", 3)`)}, ""},
		{"a count", []policy.Spec{rate, on(stubs.Enqueue, `state.n >= 100 ? throw("x") : add("n", 1)`), on(stubs.Ends, `add("n", -1)`)}, ""},
		{"on start", []policy.Spec{rate, on(stubs.Start, `task.deadline < duration("1ms") ? throw("x") : continue()`)}, ""},
		{"observed", []policy.Spec{rate, in(policy.Observe, full)}, ""},
	})
}

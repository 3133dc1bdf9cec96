package analyzer

import (
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Two policies that each leave some tasks, and together none.
func TestNobodyIsLeft(t *testing.T) {
	refuse := func(cond string) policy.Spec { return on(stubs.Enqueue, cond+` ? throw("x") : continue()`) }
	dear, cheap := refuse(`arriving.cost > duration("1s")`), refuse(`arriving.cost <= duration("1s")`)
	named, anonymous := refuse(`arriving.labels.user != ""`), refuse(`arriving.labels.user == ""`)
	night, day := refuse(`clock.hour not in 1..4`), refuse(`clock.hour in 1..4`)
	reports := policy.Match{Tasks: []string{"report"}}
	const none = `throw("x") meets all tasks that the policy "p0" leaves: together they leave none`
	checkFlows(t, Declared{}, []flowCase{
		{"by a label", []policy.Spec{named, anonymous}, none},
		{"by the cost", []policy.Spec{dear, cheap}, none},
		{"by the hour", []policy.Spec{night, day}, none},
		{"of a match", []policy.Spec{named, of(reports, anonymous)}, none},
		{"and of all", []policy.Spec{of(reports, named), anonymous}, none},
		{"of other tasks", []policy.Spec{of(reports, named), of(policy.Match{Tasks: []string{"scan"}}, anonymous)}, ""},
		{"observed", []policy.Spec{named, in(policy.Observe, anonymous)}, ""},
		{"both observed", []policy.Spec{in(policy.Observe, named), in(policy.Observe, anonymous)}, none},
		{"a rest", []policy.Spec{refuse(`queue.length > 10`), refuse(`arriving.labels.user == "" and queue.length <= 10`)}, ""},
		{"by chance", []policy.Spec{refuse(`chance(0.5)`), refuse(`not chance(0.5)`)}, ""},
		{"by a state", []policy.Spec{on(stubs.Enqueue, `state.n > 3 ? throw("x") : set("n", queue.length)`), refuse(`state.n <= 3 and arriving.labels.user == ""`)}, ""},
		{"one of all", []policy.Spec{on(stubs.Enqueue, `throw("closed")`), anonymous}, ""},
		{"with an effect", []policy.Spec{named, on(stubs.Enqueue, `arriving.labels.user == "" ? (add("k", arriving.name, 1); throw("x")) : rank(1)`)}, none},
		{"on start", []policy.Spec{on(stubs.Start, `task.waited > duration("1s") ? throw("x") : continue()`), on(stubs.Start, `task.waited <= duration("1s") and task.labels.user == "" ? throw("x") : continue()`)}, ""},
		{"all on start", []policy.Spec{on(stubs.Start, `task.labels.user == "a" ? throw("x") : continue()`), on(stubs.Start, `task.labels.user != "a" ? throw("x") : continue()`)}, none},
	})
}

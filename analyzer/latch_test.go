package analyzer

import (
	"maps"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// States that stop all tasks, and that only tasks bring back.
func TestLatches(t *testing.T) {
	exit := func(expr string) policy.Spec { return on(stubs.Exit, expr) }
	refuse := func(cond string) policy.Spec { return on(stubs.Enqueue, cond+` ? throw("x") : continue()`) }
	batch := policy.Match{Tasks: []string{"batch"}}
	states := maps.Clone(declared)
	states["b"], _ = policy.StateOf(false)
	states["bad"], _ = policy.StateOf(policy.Keyed{First: false, Keys: 100})
	states["ill"], _ = policy.StateOf(policy.Keyed{First: false, Keys: 100, TTL: time.Minute})
	measured, slow := exit(`set("d", task.elapsed)`), exit(`set("b", task.elapsed > duration("1s"))`)
	trips, heals := exit(`task.elapsed > duration("1s") ? set("b", true) : continue()`), exit(`task.elapsed < duration("100ms") ? set("b", false) : continue()`)
	late := `average("d", duration("10s")) > duration("1s")`
	const flag = `throw("x") refuses all tasks while state.b is true, and only tasks that have been let in change that`
	checkFlows(t, Declared{States: states}, []flowCase{
		{"a flag", []policy.Spec{slow, refuse(`state.b`)}, flag},
		{"two policies", []policy.Spec{trips, heals, refuse(`state.b`)}, flag},
		{"with probes", []policy.Spec{slow, refuse(`state.b and not chance(0.05)`)}, ""},
		{"under load", []policy.Spec{slow, refuse(`state.b and queue.length > 3`)}, ""},
		{"for some tasks", []policy.Spec{slow, of(batch, refuse(`state.b`))}, ""},
		{"for the same tasks", []policy.Spec{of(batch, slow), of(batch, refuse(`state.b`))}, flag},
		{"a tick", []policy.Spec{slow, refuse(`state.b`), {On: policy.Every(time.Second), Expr: `queue.length == 0 ? set("b", false) : continue()`}}, ""},
		{"each arrival", []policy.Spec{trips, on(stubs.Enqueue, `queue.length < 5 ? set("b", false) : continue()`), refuse(`state.b`)}, ""},
		{"each arrival, too late", []policy.Spec{trips, refuse(`state.b`), on(stubs.Enqueue, `queue.length < 5 ? set("b", false) : continue()`)}, flag},
		{"the last task", []policy.Spec{on(stubs.Enqueue, `queue.length > 99 ? set("b", true) : continue()`), exit(`queue.length < 9 and loop.busy < 1 ? set("b", false) : continue()`), refuse(`state.b`)}, ""},
		{"the last task, perhaps", []policy.Spec{on(stubs.Enqueue, `queue.length > 99 ? set("b", true) : continue()`), exit(`loop.utilization < 0.5 ? set("b", false) : continue()`), refuse(`state.b`)}, flag},

		{"an average", []policy.Spec{measured, refuse(late)}, `while average("d", duration("10s")) is high`},
		{"an average with probes", []policy.Spec{measured, refuse(late + ` and not chance(0.1)`)}, ""},
		{"a moving value", []policy.Spec{exit(`set("d", state.d * 0.9 + task.elapsed * 0.1)`), refuse(`state.d > duration("1s")`)}, `while state.d is high`},
		{"a moment", []policy.Spec{exit(`task.elapsed > duration("1s") ? set("d", runtime.uptime + duration("10s")) : continue()`), refuse(`runtime.uptime < state.d`)}, ""},
		{"a count of failures", []policy.Spec{exit(`task.elapsed > duration("1s") ? add("n", 1) : set("n", 0)`), refuse(`state.n > 5`)}, `while state.n is high`},
		{"a count of tasks", []policy.Spec{on(stubs.Enqueue, `state.n > 5 ? throw("x") : arriving.priority < 0 ? add("n", 1) : continue()`), on(stubs.Ends, `task.priority < 0 ? add("n", -1) : continue()`)}, ""},
		{"a limit", []policy.Spec{exit(`task.elapsed > duration("1s") ? set("limit", max(1, state.limit / 2)) : set("limit", min(100, state.limit + 1))`), refuse(`queue.length > state.limit`)}, ""},

		{"a flag of each name", []policy.Spec{exit(`set("bad", task.name, task.elapsed > duration("1s"))`), refuse(`state.bad[arriving.name]`)}, `while state.bad[arriving.name] is true`},
		{"a flag for a minute", []policy.Spec{exit(`set("ill", task.name, task.elapsed > duration("1s"))`), refuse(`state.ill[arriving.name]`)}, ""},
	})
}

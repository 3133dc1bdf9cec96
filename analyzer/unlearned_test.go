package analyzer

import (
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Throws by what a state has learned, before it has learned anything.
func TestUnlearned(t *testing.T) {
	tick := func(cond string) policy.Spec {
		return policy.Spec{On: policy.Every(10 * time.Millisecond), Expr: cond + ` ? throw("x") : continue()`}
	}
	mean := on(stubs.Exit, `set("d", (9 * state.d + task.running) / 10)`)
	keyed, _ := policy.StateOf(policy.Keyed{First: time.Duration(0), Keys: 5})
	states := Declared{States: map[string]policy.State{"d": declared["d"], "kd": keyed}}
	const ends = `state.d is 0 until a task has ended, and throw("x") then ends each task`
	checkFlows(t, states, []flowCase{
		{"a multiple", []policy.Spec{mean, tick(`task.running > 5 * state.d`)}, ends},
		{"with a let", []policy.Spec{mean, tick(`let most = 5 * state.d; not (task.running <= most) and queue.length > 9`)}, ends},
		{"asked for", []policy.Spec{mean, tick(`state.d > duration("0s") and task.running > 5 * state.d`)}, ""},
		{"a least time", []policy.Spec{mean, tick(`task.running > max(duration("100ms"), 5 * state.d)`)}, ""},
		{"the queue", []policy.Spec{mean, on(stubs.Enqueue, `queue.oldest > 3 * state.d ? throw("x") : continue()`)}, ""}, // tasks that find a slot teach it
		{"set on arrival", []policy.Spec{on(stubs.Enqueue, `set("d", arriving.cost)`), tick(`task.running > 5 * state.d`)}, ""},
		{"by name", []policy.Spec{on(stubs.Exit, `set("kd", task.name, task.running)`), tick(`task.running > 5 * state.kd[task.name]`)}, `state.kd[task.name] is 0 until`},
		{"more than usual", []policy.Spec{mean, tick(`task.running > duration("1s") and state.d > duration("1s")`)}, ""},
	})
	up := on(stubs.Enqueue, `state.n >= 9 ? throw("x") : add("n", 1)`)
	up.Mode = policy.Observe
	down := on(stubs.Ends, `add("n", -1); max("n", 0)`)
	checkFlows(t, Declared{States: declared}, []flowCase{
		{"observed with a floor", []policy.Spec{up, down}, "the state n goes down in a policy in mode enforce, and up in this one alone: in mode observe it writes a shadow"},
	})
}

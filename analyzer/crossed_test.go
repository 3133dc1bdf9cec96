package analyzer

import (
	"maps"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Latches with crossed thresholds change at each evaluation.
func TestCrossedThresholds(t *testing.T) {
	states := statesOf(map[string]any{"on": false, "by": policy.Keyed{First: false, Keys: 9}, "low": 20, "d": time.Duration(0)})
	const flips = "changes at each evaluation while "
	for expr, want := range map[string]string{
		`set("on", state.on ? queue.length > 50 : queue.length > 20)`:                                                                            "state.on " + flips + "queue.length is between 20 and 50",
		`set("on", state.on ? queue.length > 20 : queue.length > 50)`:                                                                            "",
		`set("on", queue.length > (state.on ? 50 : 20))`:                                                                                         "",
		`let n = queue.length; not state.on and n > 20 ? set("on", true) : state.on and n < 50 ? set("on", false) : continue()`:                  flips,
		`let n = queue.length; not state.on and n > 50 ? set("on", true) : state.on and n < 20 ? set("on", false) : continue()`:                  "",
		`state.on ? (loop.utilization < 0.9 ? set("on", false) : continue()) : (loop.utilization > 0.7 ? set("on", true) : continue())`:          "loop.utilization is between 0.7 and 0.9",
		`queue.wait(0.9) > duration("1s") and not state.on ? set("on", true) : queue.wait(0.9) < duration("2s") ? set("on", false) : continue()`: "queue.wait(0.9) is between 1s and 2s",
		`set("by", task.name, state.by[task.name] ? queue.length > 50 : queue.length > 20)`:                                                      flips,
		`set("on", state.on ? float(queue.length) / float(loop.slots) > 2.0 : float(queue.length) / float(loop.slots) > 1.0)`:                    "float(queue.length) / float(loop.slots) is between 1 and 2",
		`let r = float(queue.length) / float(loop.slots); set("on", state.on ? r > 2.0 : r > 1.0)`:                                               "is between 1 and 2",
		`let r = float(queue.length) / float(loop.slots); set("on", state.on ? r > 1.0 : r > 2.0)`:                                               "",
		`set("on", not state.on)`: "",
		`set("on", state.on ? queue.length > 50 or loop.busy > 3 : queue.length > 20)`: "",
		`set("on", state.on ? queue.length > 9 : queue.length >= 10)`:                  "",
	} {
		checkSpec(t, states, on(stubs.Exit, expr), want)
	}
	tick := func(expr string) policy.Spec { return policy.Spec{On: policy.Every(time.Second), Expr: expr} }
	up, shed := tick(`queue.length > 20 ? set("on", true) : continue()`), on(stubs.Enqueue, `state.on and not chance(0.1) ? throw("x") : continue()`)
	all := maps.Clone(states)
	delete(all, "by")
	checkFlows(t, Declared{States: all}, []flowCase{
		{"two policies", []policy.Spec{up, tick(`queue.length < 50 ? set("on", false) : continue()`), shed}, `set("on", false) changes what the policy "p0" has set while queue.length is between 20 and 50`},
		{"two policies apart", []policy.Spec{up, tick(`queue.length < 10 ? set("on", false) : continue()`), shed}, ""},
		{"on other conditions", []policy.Spec{up, tick(`queue.length < 50 and loop.busy < 3 ? set("on", false) : continue()`), shed}, ""},
		{"at other times", []policy.Spec{up, on(stubs.Exit, `queue.length < 50 ? set("on", false) : continue()`), shed}, ""},
		{"low for high", []policy.Spec{tick(`set("on", loop.utilization < 0.5)`), shed}, `set("on", loop.utilization < 0.5) lowers the state on while the server is slow`},
	})
}

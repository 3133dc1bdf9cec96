package analyzer

import (
	"maps"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// States that begin with a percentage, and serve as a share of 0 to 1.
func TestPercentagesForShares(t *testing.T) {
	states := maps.Clone(declared)
	for name, v := range map[string]any{"p": 100.0, "percent": 50, "whole": 1.0, "off": -5.0, "most": 80.0} {
		states[name], _ = policy.StateOf(v)
	}
	refuse := func(cond string) []policy.Spec {
		lowered := policy.Spec{On: policy.Every(1e9), Expr: `set("p", queue.length > 100 ? state.p / 2.0 : state.p + 1.0)`}
		return []policy.Spec{lowered, on(stubs.Enqueue, cond+` ? throw("x") : continue()`)}
	}
	own := on(stubs.Enqueue, `chance(state.mine) ? throw("x") : continue()`)
	own.State = map[string]any{"mine": 20.0}
	checkFlows(t, Declared{States: states}, []flowCase{
		{"a probability", refuse(`chance(state.p)`), `chance(state.p) is always true while the state p has its first value, 100: a share is 0 to 1, and state.p is more`},
		{"the opposite", refuse(`not chance(state.p)`), `chance(state.p) is always true while`},
		{"a constant", refuse(`chance(state.most)`), `chance(state.most) is always true while`},
		{"named", refuse(`let c = state.p; chance(c)`), `chance(c) is always true while`},
		{"a private state", []policy.Spec{own}, `chance(state.mine) is always true while`},
		{"divided too little", refuse(`chance(state.p / 10.0)`), `is always true while the state p has its first value`},
		{"a utilization", refuse(`loop.utilization > state.most and queue.length > 3`), `loop.utilization > state.most is always false while the state most has its first value`},
		{"with a clamp", refuse(`chance(clamp(state.p, 0, 1))`), `chance(clamp(state.p, 0, 1)) is always true while the state p has its first value, 100: a share is 0 to 1, and state.p is more`},
		{"with a cap", refuse(`let c = min(state.p, 1); not chance(c)`), `chance(c) is always true while the state p has its first value, 100: a share is 0 to 1, and state.p is more`},
		{"a clamp of a percentage", refuse(`chance(clamp(state.p / 100.0, 0, 1))`), ""},
		{"a clamp of a whole", refuse(`chance(clamp(state.whole, 0, 1))`), ""},
		{"a percentage", refuse(`chance(state.p / 100.0)`), ""},
		{"percentages", refuse(`loop.utilization * 100 > state.most and queue.length > 3`), ""},
		{"a selection", refuse(`hash(arriving.labels.user) % 100 < state.percent`), ""},
		{"all", refuse(`chance(state.whole)`), ""},
		{"a share that grows", refuse(`chance(state.off)`), ""},
		{"another reason", refuse(`chance(state.p * float(queue.length))`), ""},
		{"a length", refuse(`float(queue.length) > state.most`), ""},
	})
}

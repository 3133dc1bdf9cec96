package analyzer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// States without a least value, moments without a clock, caps that are floors, and private states of
// one name.
func TestStepsOfStates(t *testing.T) {
	every := func(expr string) policy.Spec { return policy.Spec{On: policy.Every(time.Second), Expr: expr} }
	event := func(name, expr string) policy.Spec { return policy.Spec{On: policy.OnCustom(name), Expr: expr} }
	own := func(s policy.Spec) policy.Spec { s.State = map[string]any{"own": 0.5}; return s }
	chance := on(stubs.Enqueue, `chance(state.f) ? continue() : throw("x")`)
	failures := on(stubs.Enqueue, `state.n >= 5 ? throw("x") : continue()`)
	until := on(stubs.Enqueue, `runtime.uptime < state.d ? throw("x", state.d - runtime.uptime) : continue()`)
	above := on(stubs.Enqueue, `queue.length > state.limit ? throw("x") : continue()`)
	const slow = `queue.oldest > duration("1s") ? `
	for _, c := range []struct {
		specs []policy.Spec
		want  string
	}{
		{[]policy.Spec{chance, every(slow + `set("f", state.f - 0.1) : set("f", min(1.0, state.f + 0.02))`)},
			`set("f", state.f - 0.1) lowers the state f below 0 in the end, and chance(state.f) holds for no task then; write max(state.f - 0.1, 0)`},
		{[]policy.Spec{chance, every(slow + `set("f", max(0.05, state.f - 0.1)) : set("f", min(1.0, state.f + 0.02))`)}, ""},
		{[]policy.Spec{chance, every(slow + `state.f > 0.1 ? set("f", state.f - 0.1) : continue() : set("f", min(1.0, state.f + 0.02))`)}, ""},
		{[]policy.Spec{above, every(slow + `set("limit", state.limit - 10) : set("limit", min(100, state.limit + 1))`)}, `queue.length > state.limit holds for all tasks then`},
		{[]policy.Spec{above, every(slow + `set("limit", max(state.limit - 10, 1)) : set("limit", min(100, state.limit + 1))`)}, ""},
		{[]policy.Spec{above, on(stubs.Exit, `task.waited > duration("100ms") ? add("limit", -5) : add("limit", 1)`)},
			`add("limit", -5) lowers the state limit below 0 in the end, and queue.length > state.limit holds for all tasks then; write a condition, as in state.limit > 0`},
		{[]policy.Spec{above, on(stubs.Exit, `task.waited < duration("100ms") ? add("limit", 1) : state.limit > 5 ? add("limit", -5) : continue()`)}, ""},
		{[]policy.Spec{above, every(slow + `add("limit", -5) : add("limit", 1)`)}, ""}, // ticks raise it again
		{[]policy.Spec{failures, event("fail", `add("n", 1)`), event("ok", `add("n", -1)`)},
			`add("n", -1) lowers the state n below 0 in the end, and state.n >= 5 holds only after as many steps up; write a condition, as in state.n > 0`},
		{[]policy.Spec{failures, event("fail", `add("n", 1)`), event("ok", `state.n > 0 ? add("n", -1) : continue()`)}, ""},
		{[]policy.Spec{on(stubs.Enqueue, `state.n >= 5 ? throw("x") : add("n", 1)`), on(stubs.Ends, `add("n", -1)`)}, ""},
		{[]policy.Spec{until, event("fail", `set("d", state.d + duration("5s"))`)},
			`set("d", state.d + duration("5s")) goes on from the last value of the state d, which policies compare with runtime.uptime: nothing sets it by the clock; write set("d", runtime.uptime + duration("5s"))`},
		{[]policy.Spec{until, event("fail", `add("d", duration("5s"))`)}, `goes on from the last value of the state d`},
		{[]policy.Spec{until, event("fail", `set("d", runtime.uptime + duration("5s"))`)}, ""},
		{[]policy.Spec{until, event("fail", `state.d > runtime.uptime ? set("d", state.d + duration("5s")) : set("d", runtime.uptime + duration("5s"))`)}, ""},
		{[]policy.Spec{own(every(slow + `set("own", 0.1) : set("own", 1.0)`)), own(on(stubs.Enqueue, `chance(state.own) ? continue() : throw("x")`))},
			`the policy "p0" writes a private state own of its own: nothing writes this one; declare it once for both, in states`},
		{[]policy.Spec{own(on(stubs.Enqueue, `chance(state.own) ? continue() : throw("x")`))}, ""},
	} {
		got := strings.Join(flowsText(t, c.specs), "\n")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.specs[len(c.specs)-1].Expr, got, c.want)
		}
	}
}

func flowsText(t *testing.T, specs []policy.Spec) (texts []string) {
	t.Helper()
	for _, r := range flows(members(t, declared, specs...)) {
		texts = append(texts, fmt.Sprint(r.Err))
	}
	return texts
}

// A cap of a share that is a floor: the share begins with the cap.
func TestShareRaisedWithoutEnd(t *testing.T) {
	states := statesOf(map[string]any{"share": 1.0})
	chance := on(stubs.Enqueue, `chance(state.share) ? continue() : throw("x")`)
	for bound, want := range map[string]string{"max": "write min for a cap", "min": ""} {
		tick := policy.Spec{On: policy.Every(time.Second), Expr: `queue.oldest > duration("1s") ? set("share", 0.1) : set("share", ` + bound + `(1.0, state.share + 0.02))`}
		got := ""
		for _, r := range Flows(members(t, states, tick, chance), Declared{States: states}) {
			got += fmt.Sprintln(r.Err)
		}
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: got %s", bound, got)
		}
	}
}

// Numbers of tokens that a bucket never has, on one side of a choice, and costs that are unknown.
func TestOverdrawn(t *testing.T) {
	for tokens, want := range map[string]string{
		`arriving.priority > 3 ? 6 : 1`:                             `the bucket "bucket" holds 5 tokens, and never 6`,
		`arriving.priority > 3 ? 5 : 1`:                             "",
		`arriving.priority > 3 ? 2 : arriving.priority > 1 ? 7 : 1`: `and never 7`,
		`min(arriving.cost / duration("1s"), 5.0)`:                  `takes nothing for a task of unknown cost: arriving.cost is 0 then; take a least number`,
		`clamp(arriving.cost / duration("1s"), 1.0, 5.0)`:           "",
		`1.0 + arriving.cost / duration("1s")`:                      "",
	} {
		checkSpec(t, declared, on(stubs.Enqueue, `take("bucket", `+tokens+`) ? continue() : throw("x")`), want)
	}
}

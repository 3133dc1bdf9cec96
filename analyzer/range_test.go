package analyzer

import (
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// A state that is compared with a value which no policy gives it.
func TestStatesOutsideTheirRanges(t *testing.T) {
	read := func(cond string) policy.Spec { return on(stubs.Enqueue, cond+` ? throw("x") : continue()`) }
	tick := func(expr string) policy.Spec { return policy.Spec{On: policy.Every(time.Second), Expr: expr} }
	levels := tick(`queue.length > 50 ? set("n", 2) : queue.length > 5 ? set("n", 1) : set("n", 0)`)
	capped := tick(`queue.length > 5 ? set("n", min(state.n + 1, 10)) : set("n", 0)`)
	share := tick(`set("f", loop.utilization)`)
	hour := on(stubs.Exit, `set("k", task.name, clock.hour)`)
	checkFlows(t, Declared{}, []flowCase{
		{"a level that there is", []policy.Spec{levels, read(`state.n == 2`)}, ""},
		{"a level that there is not", []policy.Spec{levels, read(`state.n == 3`)}, "state.n == 3 is always false: state.n is 0 to 2, by all that policies write"},
		{"the cap", []policy.Spec{capped, read(`state.n >= 10`)}, ""},
		{"beyond the cap", []policy.Spec{capped, read(`state.n > 10`)}, "state.n > 10 is always false: state.n is 0 to 10"},
		{"by a let", []policy.Spec{capped, read(`let n = state.n; n + 1 > 11`)}, "n + 1 > 11 is always false: state.n is 0 to 10"},
		{"a share", []policy.Spec{share, read(`state.f > 0.9`)}, ""},
		{"a share in percent", []policy.Spec{share, read(`state.f > 90.0`)}, "state.f > 90.0 is always false: state.f is 0 to 1"},
		{"its average", []policy.Spec{share, read(`average("f", duration("10s")) > 0.5`)}, ""},
		{"a negative time", []policy.Spec{tick(`set("d", queue.oldest)`), read(`state.d < duration("0s")`)}, "state.d < duration(\"0s\") is always false: state.d is 0s or more"},
		{"the least so far, from 0", []policy.Spec{on(stubs.Exit, `min("d", task.running)`), read(`state.d > duration("1s")`)}, `state.d > duration("1s") is always false: state.d is always 0s`},
		{"an event", []policy.Spec{on(stubs.Custom, `event.value > 0 ? set("n", int(event.value)) : continue()`), read(`state.n > 1000`)}, ""},
		{"a count", []policy.Spec{read(`state.n > 1000`), on(stubs.Enqueue, `add("n", 1)`), on(stubs.Ends, `add("n", -1)`)}, ""},
		{"a parameter", []policy.Spec{read(`state.limit > 9`)}, ""},
		{"keys", []policy.Spec{hour, read(`queue.length > 3 and state.k[arriving.name] > 22`)}, ""},
		{"keys and no such value", []policy.Spec{hour, read(`state.k[arriving.name] > 23`)}, "state.k[arriving.name] > 23 is always false: state.k[arriving.name] is 0 to 23"},
		{"a rate", []policy.Spec{on(stubs.Exit, `add("n", 1)`), read(`rate("n", duration("10s")) > 5`)}, ""},
		{"a rate that falls", []policy.Spec{on(stubs.Exit, `add("n", 1)`), read(`rate("n", duration("10s")) < 0`)}, "is always false: no policy lowers the state n"},
		{"a guard of a division", []policy.Spec{tick(`set("n", max(1, queue.length))`), read(`state.n != 0 and 100 / state.n > 3`)}, ""},
		{"a bound that makes no difference", []policy.Spec{capped, read(`queue.length > min(state.n, 20)`)}, ""},
		{"a product", []policy.Spec{tick(`set("n", clamp(state.n * 2, 1, 64))`), read(`state.n >= 64`)}, ""},
		{"a count that stops", []policy.Spec{on(stubs.Exit, `state.n < 100 ? add("n", 1) : continue()`), read(`state.n < 100 and queue.length > 3`)}, ""},
		{"an average of shares", []policy.Spec{tick(`set("f", 0.9 * state.f + 0.1 * loop.utilization)`), read(`state.f > 95.0`)}, "state.f > 95.0 is always false: state.f is 0 to 1"},
		{"a part of the shares", []policy.Spec{tick(`set("f", 0.9 * state.f + 0.1 * loop.utilization)`), read(`state.f > 0.95`)}, ""},
		{"the limit in place of 0", []policy.Spec{on(stubs.Enqueue, `state.n >= 10 ? throw("x") : add("n", 1)`), on(stubs.Ends, `state.n > 10 ? add("n", -1) : continue()`)}, "state.n > 10 is always false: state.n is 0 to 10"},
		{"a count that stops, and more", []policy.Spec{on(stubs.Exit, `state.n < 100 ? add("n", 1) : continue()`), read(`state.n > 100`)}, "state.n > 100 is always false: state.n is 0 to 100"},
	})
}

// A warning says what is wrong, and not what follows from it.
func TestOneWarningForOneMistake(t *testing.T) {
	ttl, _ := policy.StateOf(policy.Keyed{First: 0, Keys: 5, TTL: time.Hour})
	states := map[string]policy.State{"k": ttl}
	for name, s := range declared {
		if name != "k" {
			states[name] = s
		}
	}
	reads := on(stubs.Enqueue, `state.n > 3 or state.d > duration("1h") ? throw("x") : continue()`)
	checkFlows(t, Declared{States: states}, []flowCase{
		{"nothing is added", []policy.Spec{on(stubs.Leave, `add("d", task.running)`), reads}, ""},
		{"the first value", []policy.Spec{on(stubs.Exit, `queue.length > 5 ? set("n", 0) : continue()`), reads}, ""},
		{"a quota of served tasks", []policy.Spec{on(stubs.Enqueue, `state.k[arriving.name] > 100 ? throw("x") : add("k", arriving.name, 1)`), on(stubs.Leave, `add("k", task.name, -1)`)}, ""},
	})
	for _, c := range []struct{ expr, want string }{
		{`add("own", task.running)`, "add(\"own\", task.running) changes nothing: it adds 0; a task has not run yet on leave"},
		{`task.section == "json" ? add("own", task.elapsed) : continue()`, "a task that has not run has no open section on leave"},
	} {
		s := on(stubs.Leave, c.expr)
		s.State = map[string]any{"own": time.Duration(0)}
		if got := warning(t, s); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s, want %s", c.expr, got, c.want)
		}
	}
}

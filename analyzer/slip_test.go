package analyzer

import (
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Policies that are in order, and most likely mean the opposite or something else.
func TestSlips(t *testing.T) {
	tick := func(every time.Duration, expr string) policy.Spec {
		return policy.Spec{On: policy.Every(every), Expr: expr}
	}
	of := func(m policy.Match, s policy.Spec) policy.Spec { s.Match = m; return s }
	for _, c := range []struct {
		spec policy.Spec
		want string
	}{
		{tick(1e9, `queue.length > 3 ? throw("x") : continue()`), `throw("x") ends all running tasks at once: nothing in the policy is about a task`},
		{tick(1e9, `queue.length > 3 and task.priority < 0 ? throw("x") : continue()`), ""},
		{tick(1e9, `queue.length > 3 and tenant.queued > 9 ? throw("x") : continue()`), ""},
		{tick(1e9, `chance(0.1) ? throw("x") : continue()`), ""},
		{of(policy.Match{Tasks: []string{"a"}}, tick(1e9, `queue.length > 3 ? throw("x") : continue()`)), ""},
		{of(policy.Match{Except: []string{"a"}}, tick(1e9, `queue.length > 3 ? throw("x") : continue()`)), `throw("x") ends all running tasks at once: nothing in the policy is about a task`},
		{tick(1e9, `queue.length > 3 ? call("f") : continue()`), ""},
		{on(stubs.Enqueue, `queue.length > 3 ? throw("x") : continue()`), ""},
		{on(stubs.Custom, `event.value > 3 ? throw("x") : continue()`), ""},

		{tick(time.Hour, `task.running > duration("1s") and queue.length > 3 ? throw("x") : continue()`), "the policy is evaluated every 1h0m0s: it notices 1s up to 1h0m0s late"},
		{tick(time.Hour, `task.running > duration("1s") and task.name == "a" ? throw("x") : continue()`), ""},

		{tick(1e8, `queue.oldest < duration("20ms") ? set("n", min(state.n + 1, 99)) : set("n", max(state.n - state.n / 8, 1))`), ""},
		{tick(1e8, `queue.oldest > duration("20ms") ? add("n", -1) : add("n", 1)`), ""},
		{tick(1e8, `queue.oldest > duration("20ms") ? set("n", 1) : set("n", 0)`), "the policy is evaluated every 100ms: it notices 20ms up to 100ms late"},

		{on(stubs.Enqueue, `queue.length > 3 ? rank(1) : rank(1)`), "both sides of the choice are rank(1)"},
		{on(stubs.Enqueue, `rank(queue.length > 3 ? 1 : 1)`), "both sides of the choice are 1"},
		{on(stubs.Enqueue, `queue.length > 3 ? rank(1) : rank(2)`), ""},

		{on(stubs.Enqueue, `take("bucket", 1) ? throw("x") : continue()`), `take("bucket", 1) is true when there are tokens, and then the policy throws`},
		{on(stubs.Enqueue, `not take("bucket", 1) ? throw("x") : continue()`), ""},
		{on(stubs.Enqueue, `take("bucket", 1) ? continue() : throw("x")`), ""},
		{on(stubs.Enqueue, `queue.length > 3 and take("bucket", 1) ? throw("x") : continue()`), ""},

		{on(stubs.Enqueue, `rank(arriving.priority)`), "the lowest rank starts first, and a greater priority is more urgent: rank(arriving.priority) starts the least urgent task first"},
		{on(stubs.Enqueue, `rank(-arriving.priority)`), ""},
		{on(stubs.Enqueue, `queue.length > 3 ? throw("x", duration("-1s")) : continue()`), "a retry time of -1s tells the caller nothing"},
		{on(stubs.Enqueue, `queue.length > 3 ? throw("x", duration("25h")) : continue()`), "the caller is told to come back after 24h0m0s at most, and this is 25h0m0s"},
		{on(stubs.Enqueue, `queue.length > 3 ? throw("x", duration("24h")) : continue()`), ""},

		{on(stubs.Exit, `set("k", "task.name", 1)`), `"task.name" is a name here, and no state stub; write it without quotes`},
		{on(stubs.Exit, `set("k", "task.labels.user", 1)`), `"task.labels.user" is a name here, and no state stub; write it without quotes`},
		{on(stubs.Exit, `set("k", "queue.wait(0.99)", 1)`), `"queue.wait(0.99)" is a name here`},
		{on(stubs.Exit, `set("k", "task.labels", 1); set("k", "tasks.txt", 2)`), `"task.labels" is a name here`},
		{on(stubs.Exit, `set("k", "task.name.txt", 1); set("k", "queue.wait", 2)`), `"queue.wait" is a name here`},
		{on(stubs.Enqueue, `arriving.name == "arriving.labels" ? throw("x") : continue()`), `"arriving.labels" is a name here`},
		{on(stubs.Exit, `set("n", queue.length); cancel()`), "cancel() ends the policy at its first evaluation"},
		{on(stubs.Exit, `if queue.length > 3 { set("n", 1); cancel() } else { continue() }`), ""},
		{on(stubs.Enqueue, `hash(arriving.labels.user) < 5 ? throw("x") : continue()`), "hash() is a number of 63 bits, and 5 is not a share of them"},
		{on(stubs.Enqueue, `5 > hash(arriving.labels.user) ? throw("x") : continue()`), "hash() is a number of 63 bits"},
		{on(stubs.Enqueue, `hash(arriving.labels.user) % 100 < 5 ? throw("x") : continue()`), ""},
		{on(stubs.Enqueue, `arriving.deadline == duration("0s") ? throw("x") : continue()`), "arriving.deadline is hardly ever exactly 0s; compare with < or >; a task without a deadline has the greatest duration"},
		{on(stubs.Exit, `task.running == duration("1s") ? set("n", 1) : continue()`), "task.running is hardly ever exactly 1s"},
		{on(stubs.Start, `task.waited == duration("0s") ? set("n", 1) : continue()`), ""},
		{on(stubs.Enqueue, `arriving.cost == duration("0s") ? rank(1) : continue()`), ""},
	} {
		c.spec.Expr = strings.ReplaceAll(c.spec.Expr, `call("f")`, `set("n", 1)`)
		got := warning(t, c.spec)
		if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.spec.Expr, got, c.want)
		}
	}
}

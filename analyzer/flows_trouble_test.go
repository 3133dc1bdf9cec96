package analyzer

import (
	"maps"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Breakers and limits that work against their purpose.
func TestAgainstTheTrouble(t *testing.T) {
	exit := func(expr string) policy.Spec { return on(stubs.Exit, expr) }
	refuse := func(cond string) policy.Spec { return on(stubs.Enqueue, cond+` ? throw("x") : continue()`) }
	custom := policy.Spec{On: policy.OnCustom("alive"), Expr: `set("d", runtime.uptime + duration("5s"))`}
	states := maps.Clone(declared)
	states["b"], _ = policy.StateOf(false)
	opens := exit(`task.elapsed > duration("1s") ? set("d", runtime.uptime + duration("10s")) : continue()`)
	closes := exit(`task.elapsed < duration("1s") ? set("d", runtime.uptime) : continue()`)
	const all = `throw("x") refuses all tasks while the state d has its first value, and only tasks that are let in change it`
	const lowered = `set("limit", max(1, state.limit / 2)) lowers the state limit while the server is fast, and throw("x") refuses more tasks then`
	checkFlows(t, Declared{States: states}, []flowCase{
		{"a breaker", []policy.Spec{opens, refuse(`runtime.uptime < state.d`)}, ""},
		{"a breaker the wrong way round", []policy.Spec{opens, refuse(`runtime.uptime > state.d`)}, all},
		{"by the time since", []policy.Spec{closes, refuse(`runtime.uptime - state.d > duration("30s")`)}, all},
		{"with probes", []policy.Spec{closes, refuse(`runtime.uptime - state.d > duration("30s") and not chance(0.05)`)}, ""},
		{"for some tasks", []policy.Spec{closes, of(policy.Match{Tasks: []string{"a"}}, refuse(`runtime.uptime - state.d > duration("30s")`))}, ""},
		{"a heartbeat", []policy.Spec{custom, refuse(`runtime.uptime > state.d`)}, ""},
		{"an event, too", []policy.Spec{closes, custom, refuse(`runtime.uptime - state.d > duration("30s")`)}, ""},
		{"a flag that tasks set", []policy.Spec{on(stubs.Start, `queue.length > 3 ? set("b", false) : set("b", true)`), refuse(`not state.b`)}, `while the state b has its first value`},
		{"off", []policy.Spec{closes, in(policy.Off, refuse(`runtime.uptime - state.d > duration("30s")`))}, ""},
		{"a breaker for unurgent tasks", []policy.Spec{opens, refuse(`runtime.uptime > state.d and arriving.priority < 5`)}, `raises the state d while the server is slow`},
		{"a right one", []policy.Spec{opens, refuse(`runtime.uptime < state.d and arriving.priority < 5`)}, ""},

		{"a limit", []policy.Spec{exit(`task.elapsed > duration("1s") ? set("limit", max(1, state.limit / 2)) : set("limit", min(100, state.limit + 1))`), refuse(`queue.length > state.limit`)}, ""},
		{"a limit the wrong way round", []policy.Spec{exit(`task.elapsed < duration("1s") ? set("limit", max(1, state.limit / 2)) : set("limit", min(100, state.limit + 1))`), refuse(`queue.length > state.limit`)}, lowered},
		{"a limit that grows with the demand", []policy.Spec{exit(`queue.length > 3 and loop.service(0.95) < duration("1s") ? add("limit", 1) : set("limit", max(1, state.limit - 1))`), refuse(`loop.busy > state.limit`)}, ""},
		{"the usual time", []policy.Spec{exit(`task.waited > duration("1s") ? add("d", duration("1ms")) : add("d", -duration("1ms"))`), refuse(`queue.oldest > 5 * state.d + duration("1s")`)}, ""},
		{"a flag", []policy.Spec{exit(`set("b", queue.oldest > duration("1s"))`), refuse(`state.b and arriving.priority < 1`)}, ""},
		{"a flag the wrong way round", []policy.Spec{exit(`set("b", queue.oldest < duration("1s"))`), refuse(`state.b and arriving.priority < 1`)}, `lowers the state b while the server is slow`},
		{"a flag by the queue", []policy.Spec{exit(`queue.length > 9 ? set("b", false) : set("b", true)`), refuse(`state.b and arriving.priority < 1`)}, `set("b", false) lowers the state b while the server is slow`},
		{"a flag by the slots", []policy.Spec{exit(`loop.utilization > 0.9 ? set("b", false) : set("b", true)`), refuse(`state.b and arriving.priority < 1`)}, `set("b", false) lowers the state b while the server is slow`},
		{"a flag that ends tasks", []policy.Spec{exit(`queue.length > 9 ? set("b", false) : set("b", true)`), {On: policy.Every(time.Second), Expr: `state.b and task.priority < 1 ? throw("x") : continue()`}}, `set("b", false) lowers the state b while the server is slow, and throw("x") ends fewer tasks then`},
		{"a right flag that ends tasks", []policy.Spec{exit(`set("b", queue.length > 9)`), {On: policy.Every(time.Second), Expr: `state.b and task.priority < 1 ? throw("x") : continue()`}}, ""},
		{"a limit by the queue", []policy.Spec{exit(`queue.length > 9 ? set("limit", min(100, state.limit + 1)) : set("limit", 5)`), refuse(`queue.length > state.limit`)}, ""},
		{"the opposite flag", []policy.Spec{exit(`set("b", queue.oldest < duration("1s"))`), refuse(`not state.b and arriving.priority < 1`)}, ""},
	})
}

// States that begin above the greatest value to which policies raise them.
func TestBeginsAboveItsCap(t *testing.T) {
	states := maps.Clone(declared)
	for name, v := range map[string]any{"free": 100, "share": 50.0} {
		states[name], _ = policy.StateOf(v)
	}
	back := func(expr string) []policy.Spec {
		return []policy.Spec{on(stubs.Enqueue, `state.free <= 0 ? throw("x") : add("free", -1)`), on(stubs.Ends, expr)}
	}
	checkFlows(t, Declared{States: states}, []flowCase{
		{"no cap", back(`add("free", 1)`), ""},
		{"its cap", back(`set("free", min(100, state.free + 1))`), ""},
		{"a lower cap", back(`set("free", min(10, state.free + 1))`), `the state free begins with 100, which is above the cap of set("free", min(10, state.free + 1))`},
		{"a condition", back(`state.free < 100 ? add("free", 1) : continue()`), ""},
		{"a lower condition", back(`state.free < 10 ? add("free", 1) : continue()`), `the state free begins with 100, and add("free", 1) never happens above half of that`},
		{"a share", []policy.Spec{on(stubs.Exit, `task.elapsed > duration("1s") ? set("share", max(1.0, state.share * 0.5)) : set("share", clamp(state.share + 1.0, 1.0, 10.0))`), on(stubs.Enqueue, `float(queue.length) > state.share ? throw("x") : continue()`)},
			"the state share begins with 50, which is above the cap"},
		{"the least so far", []policy.Spec{on(stubs.Exit, `set("share", min(state.share, float(queue.length)))`), on(stubs.Block, `set("share", 50.0)`)}, ""},
	})
}

// States with fewer keys than the declared tenants, or than the constants that policies write.
func TestFewerKeysThanTenants(t *testing.T) {
	take := on(stubs.Enqueue, `take("b", tenant.name, 1) ? continue() : throw("x")`)
	states := maps.Clone(declared)
	states["b"], _ = policy.StateOf(policy.Keyed{First: policy.Bucket{Rate: 1, Burst: 5}, Keys: 5})
	states["two"], _ = policy.StateOf(policy.Keyed{First: 0, Keys: 2})
	three := on(stubs.Exit, `task.priority > 0 ? set("two", "high", queue.length) : task.priority < 0 ? set("two", "low", queue.length) : set("two", "mid", queue.length)`)
	few := Declared{States: states, Tenant: "t", Tenants: 5}
	checkFlows(t, few, []flowCase{
		{"as many", []policy.Spec{take}, ""},
		{"three constants", []policy.Spec{three}, "the state two keeps 2 keys, and policies write 3 constant keys: each new key takes the place of another"},
	})
	few.Accounts = 5 // another tenant, "other", has the last key
	checkFlows(t, few, []flowCase{{"as many as accounts", []policy.Spec{take}, ""}})
	few.Accounts = 3
	const other = `the state b keeps 5 keys, and a loop keeps the accounts of 3 tenants: for all others tenant.name is "other", and they share one key`
	checkFlows(t, few, []flowCase{
		{"more than accounts", []policy.Spec{take}, other},
		{"a tenant that a policy names has an account", []policy.Spec{on(stubs.Enqueue, `tenant.name == "gold" and queue.length > 9 ? throw("y") : continue()`), take}, ""},
		{"the name of a task is none of a tenant", []policy.Spec{on(stubs.Enqueue, `arriving.name == "gold" and queue.length > 9 ? throw("y") : continue()`), take}, other},
		{"a tenant in a list", []policy.Spec{on(stubs.Enqueue, `tenant.name in ["gold", "gold"] and queue.length > 9 ? throw("y") : continue()`), take}, ""},
		{"another key", []policy.Spec{on(stubs.Enqueue, `take("b", arriving.labels.user, 1) ? continue() : throw("x")`)}, ""},
	})
	few.Accounts = 0
	few.Tenants = 6
	checkFlows(t, few, []flowCase{{"fewer", []policy.Spec{take}, "the state b keeps 5 keys, and tenant.name has more values: each new key takes the place of another"}})
}

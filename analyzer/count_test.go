package analyzer

import (
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// A count with amounts that differ for one task.
func TestUnevenCounts(t *testing.T) {
	up, down := on(stubs.Enqueue, `add("n", 1)`), on(stubs.Ends, `add("n", -1)`)
	when := func(cond string, events stubs.Event, effect string) policy.Spec {
		return on(events, cond+` ? `+effect+` : continue()`)
	}
	tasks := func(names ...string) policy.Match { return policy.Match{Tasks: names} }
	const slot = " for a task that ends while it has a slot"
	checkFlows(t, Declared{}, []flowCase{
		{"one and two", []policy.Spec{up, on(stubs.Ends, `add("n", -2)`)}, "the state n goes up by 1 and down by 2" + slot},
		{"twice up", []policy.Spec{up, up, down}, "goes up by 2 and down by 1" + slot},
		{"twice down", []policy.Spec{up, down, on(stubs.Exit, `set("n", state.n - 1)`)}, "goes up by 1 and down by 2" + slot},
		{"a part each", []policy.Spec{up, on(stubs.Exit, `let one = 1; add("n", -one)`), on(stubs.Leave, `add("n", -1)`)}, ""},
		{"weights", []policy.Spec{on(stubs.Enqueue, `arriving.priority > 0 ? add("n", 2) : add("n", 1)`), on(stubs.Ends, `task.priority > 0 ? add("n", -2) : add("n", -1)`)}, ""},
		{"other weights", []policy.Spec{on(stubs.Enqueue, `arriving.priority > 0 ? add("n", 2) : add("n", 1)`), on(stubs.Ends, `task.priority > 1 ? add("n", -2) : add("n", -1)`)},
			"goes up by 2 and down by 1" + slot + " with task.priority == 1"},
		{"priorities", []policy.Spec{when(`arriving.priority > 0`, stubs.Enqueue, `add("n", 1)`), when(`task.priority >= 0`, stubs.Ends, `add("n", -1)`)},
			"goes down and not up for tasks with task.priority == 0"},
		{"the same priorities", []policy.Spec{when(`arriving.priority > 0`, stubs.Enqueue, `add("n", 1)`), when(`not (task.priority <= 0)`, stubs.Ends, `add("n", -1)`)}, ""},
		{"numbers of labels", []policy.Spec{when(`int(arriving.labels.w) > 3`, stubs.Enqueue, `add("n", 1)`), when(`int(task.labels.w) > 5`, stubs.Ends, `add("n", -1)`)},
			`goes up and not down for tasks with task.labels["w"] == "4"`},
		{"hashes", []policy.Spec{when(`hash(arriving.labels.w) % 100 < 10`, stubs.Enqueue, `add("n", 1)`), when(`hash(task.labels.w) % 100 < 5`, stubs.Ends, `add("n", -1)`)},
			`goes up and not down for tasks with task.labels["w"] == `},
		{"the same hashes", []policy.Spec{when(`hash(arriving.labels.w) % 100 < 10`, stubs.Enqueue, `add("n", 1)`), when(`hash(task.labels.w) % 100 < 10`, stubs.Ends, `add("n", -1)`)}, ""},
		{"estimates", []policy.Spec{on(stubs.Enqueue, `add("d", arriving.cost)`), on(stubs.Ends, `add("d", -task.running)`)}, "goes up by arriving.cost and down by task.running" + slot},
		{"weights of labels", []policy.Spec{on(stubs.Enqueue, `add("n", int(arriving.labels.w))`), on(stubs.Ends, `add("n", -int(task.labels.w))`)}, ""},
		{"the cancelled ones", []policy.Spec{up, when(`task.cancelled`, stubs.Ends, `add("n", -1)`)}, "goes up by 1 and down by 0 or 1" + slot},
		{"by chance", []policy.Spec{when(`chance(0.5)`, stubs.Enqueue, `add("n", 1)`), down}, "goes up by 0 or 1 and down by 1" + slot},
		{"a score that drains", []policy.Spec{when(`queue.length > 5`, stubs.Enqueue, `add("n", 1)`), on(stubs.Ends, `set("n", max(0, state.n - 1))`)}, ""},
		{"a score that drains to a floor", []policy.Spec{when(`queue.length > 5`, stubs.Enqueue, `add("n", 1)`), on(stubs.Ends, `add("n", -1); max("n", 0)`)}, ""},
		{"all tasks, and a floor", []policy.Spec{of(tasks("a"), up), on(stubs.Ends, `add("n", -1); max("n", 0)`)}, `goes down and not up for tasks with another task.name than "a"`},
		{"no leave, and a floor", []policy.Spec{up, on(stubs.Exit, `add("n", -1); max("n", 0)`)}, "the state n goes up on enqueue and down on exit"},
		{"a score with a floor", []policy.Spec{when(`queue.length > 5`, stubs.Enqueue, `add("n", 1)`), when(`state.n > 0`, stubs.Ends, `add("n", -1)`)}, ""},
		{"an integral", []policy.Spec{when(`queue.length > 5`, stubs.Enqueue, `add("n", 1)`), when(`queue.length <= 5`, stubs.Ends, `add("n", -1)`)}, ""},
		{"remembered", []policy.Spec{on(stubs.Enqueue, `queue.length > 5 ? (add("n", 1); set("k", arriving.labels.id, 1)) : continue()`), when(`state.k[task.labels.id] == 1`, stubs.Ends, `add("n", -1)`)}, ""},
		{"apart by name", []policy.Spec{of(tasks("a"), on(stubs.Enqueue, `add("n", 1)`)), of(tasks("*"), on(stubs.Enqueue, `arriving.name != "a" ? add("n", 1) : continue()`)), down}, ""},
		{"on some loops", []policy.Spec{of(policy.Match{Loops: []string{"a"}, Tasks: []string{"b"}}, up), of(policy.Match{Loops: []string{"a"}}, down)},
			`goes down and not up for tasks with another task.name than "b"`},
		{"observed", []policy.Spec{in(policy.Observe, up), in(policy.Observe, on(stubs.Ends, `add("n", -2)`))}, "goes up by 1 and down by 2"},
		{"a ceiling for a floor", []policy.Spec{up, on(stubs.Ends, `add("n", -1); min("n", 0)`)}, `min("n", 0) leaves the state n at 0 or less, and the count begins there`},
		{"a least for a greatest", []policy.Spec{on(stubs.Enqueue, `set("n", state.n + 1)`), on(stubs.Ends, `set("n", min(0, state.n - 1))`)}, `set("n", min(0, state.n - 1)) leaves the state n at 0 or less`},
		{"a cap", []policy.Spec{on(stubs.Enqueue, `set("n", min(100, state.n + 1))`), on(stubs.Ends, `set("n", min(100, state.n - 1))`)}, ""},
	})
}

// A count that also counts tasks which are refused.
func TestCountsOfRefusedTasks(t *testing.T) {
	down := on(stubs.Ends, `add("n", -1)`)
	floor := on(stubs.Ends, `add("n", -1); max("n", 0)`)
	full := on(stubs.Enqueue, `queue.length > 100 ? throw("full") : continue()`)
	count := on(stubs.Enqueue, `state.n >= 3 ? throw("x") : add("n", 1)`)
	tasks := func(names ...string) policy.Match { return policy.Match{Tasks: names} }
	const then = " then refuses: a refused task has neither exit nor leave, and stays counted"
	checkFlows(t, Declared{}, []flowCase{
		{"before the throw", []policy.Spec{on(stubs.Enqueue, `add("n", 1); state.n >= 3 ? throw("x") : continue()`), down}, `add("n", 1) counts tasks that this policy` + then},
		{"in place of the throw", []policy.Spec{count, down}, ""},
		{"taken back", []policy.Spec{on(stubs.Enqueue, `add("n", 1); if state.n >= 3 { add("n", -1); throw("x") } else { continue() }`), on(stubs.Exit, `add("n", -1)`), on(stubs.Leave, `add("n", -1)`)}, ""},
		{"before another policy", []policy.Spec{count, full, down}, `add("n", 1) counts tasks that the policy "p1"` + then},
		{"with a floor", []policy.Spec{count, full, floor}, `add("n", 1) counts tasks that the policy "p1"` + then},
		{"with a floor, behind the other policy", []policy.Spec{full, count, floor}, ""},
		{"behind the other policy", []policy.Spec{full, count, down}, ""},
		{"of other tasks", []policy.Spec{of(tasks("a*"), count), of(tasks("b"), full), of(tasks("a*"), down)}, ""},
		{"of some of the tasks", []policy.Spec{of(tasks("a*"), count), of(tasks("ab"), full), of(tasks("a*"), down)}, `counts tasks that the policy "p1"` + then},
		{"of other loops", []policy.Spec{of(policy.Match{Loops: []string{"a"}}, count), of(policy.Match{Loops: []string{"b"}}, full), of(policy.Match{Loops: []string{"a"}}, down)}, ""},
		{"perhaps of other loops", []policy.Spec{of(tasks("a"), count), of(policy.Match{Loops: []string{"b"}}, full), of(tasks("a"), down)}, ""},
		{"under another condition", []policy.Spec{on(stubs.Enqueue, `queue.length <= 100 ? set("n", state.n + 1) : continue()`), full, on(stubs.Ends, `state.n > 0 ? add("n", -1) : continue()`)}, ""},
		{"by another name", []policy.Spec{on(stubs.Enqueue, `arriving.name in ["a", "b"] ? add("n", 1) : continue()`), on(stubs.Enqueue, `arriving.name == "c" ? throw("x") : continue()`),
			of(tasks("a", "b"), down)}, ""},
		{"in another mode", []policy.Spec{count, in(policy.Observe, full), down}, ""},
		{"on start", []policy.Spec{on(stubs.Start, `add("n", 1); state.n >= 3 ? throw("x") : continue()`), on(stubs.Exit, `add("n", -1)`)}, ""},
		{"all that come", []policy.Spec{on(stubs.Enqueue, `add("n", 1); rate("n", duration("10s")) > 100 ? throw("x") : continue()`)}, ""},
		{"with a reset", []policy.Spec{count, full, down, {On: policy.Every(time.Second), Expr: `set("n", 0)`}}, ""},
	})
}

// Steps with a bound on the wrong side, and free places of which there are none.
func TestBentSteps(t *testing.T) {
	more := on(stubs.Exit, `set("limit", min(100, state.limit + 1))`)
	free := on(stubs.Enqueue, `state.n <= 0 ? throw("full") : add("n", -1)`)
	checkFlows(t, Declared{}, []flowCase{
		{"a cap and a floor", []policy.Spec{more, on(stubs.Leave, `set("limit", max(1, state.limit / 2))`)}, ""},
		{"a floor for a cap", []policy.Spec{on(stubs.Exit, `set("limit", max(100, state.limit + 1))`), on(stubs.Leave, `set("limit", max(1, state.limit / 2))`)},
			`set("limit", max(100, state.limit + 1)) raises the state limit to 100 at once, and then without end`},
		{"a cap for a floor", []policy.Spec{more, on(stubs.Leave, `set("limit", min(1, state.limit / 2))`)}, `set("limit", min(1, state.limit / 2)) lowers the state limit to 1 at once`},
		{"a cap that does no harm", []policy.Spec{more, on(stubs.Leave, `set("limit", min(100, state.limit - 1))`)}, ""},
		{"a least value", []policy.Spec{on(stubs.Exit, `set("limit", max(1, state.limit + 1))`), on(stubs.Leave, `set("limit", max(1, state.limit - 1))`)}, ""},
		{"no free place", []policy.Spec{free, on(stubs.Ends, `add("n", 1)`)}, "the state n begins with no free place, so no task is let in, and none gives its place back"},
		{"free places", []policy.Spec{on(stubs.Enqueue, `state.limit <= 0 ? throw("full") : add("limit", -1)`), on(stubs.Ends, `add("limit", 1)`)}, ""},
		{"a label as a text", []policy.Spec{on(stubs.Exit, `set("k", task.labels.user, loop.busy)`), on(stubs.Start, `set("k", "user", 0)`)}, `the key "user" of the state k is a text`},
	})
}

// A count under keys that differ.
func TestCountsUnderKeys(t *testing.T) {
	states := map[string]policy.State{}
	for name, by := range map[string][]string{"k": nil, "i": {"int"}, "p": {"name", "name"}} {
		states[name], _ = policy.StateOf(policy.Keyed{First: 0, Keys: 50, By: by})
	}
	count := func(up, down string) []policy.Spec {
		return []policy.Spec{on(stubs.Enqueue, `add(`+up+`, 1)`), on(stubs.Ends, `add(`+down+`, -1)`)}
	}
	checkFlows(t, Declared{States: states, Tenant: "shop"}, []flowCase{
		{"one key", count(`"k", arriving.name`, `"k", task.name`), ""},
		{"two stubs", count(`"k", tenant.name`, `"k", task.name`), "the state k goes up by the key tenant.name and down by task.name: the keys never meet"},
		{"two labels", count(`"k", arriving.labels.user`, `"k", task.labels.usr`), `goes up by the key arriving.labels["user"] and down by task.labels["usr"]`},
		{"the label of the tenants", count(`"k", arriving.labels.shop`, `"k", tenant.name`), `tenant.name is "other" for tenants without an account, and the label is not`},
		{"the name of the tenant in both", count(`"k", tenant.name`, `"k", tenant.name`), ""},
		{"the label in both", count(`"k", arriving.labels.shop`, `"k", task.labels.shop`), ""},
		{"two constants", count(`"k", "search"`, `"k", "serach"`), `goes up by the key "search" and down by "serach"`},
		{"pairs the other way", count(`"p", tenant.name, arriving.name`, `"p", task.name, tenant.name`), "goes up by the key tenant.name and arriving.name and down by task.name and tenant.name"},
		{"numbers of two labels", count(`"i", int(arriving.labels.a)`, `"i", int(task.labels.b)`), `goes up by the key int(arriving.labels["a"], 0) and down by`},
		{"in all, too", []policy.Spec{on(stubs.Enqueue, `add("k", arriving.name, 1); add("k", "all", 1)`), on(stubs.Ends, `add("k", task.name, -1); add("k", "all", -1)`)}, ""},
		{"a number that never comes", []policy.Spec{on(stubs.Exit, `set("i", clock.hour, loop.busy)`), on(stubs.Enqueue, `state.i[24] > 9 ? throw("x") : continue()`)}, "no policy writes the key 24 of the state i"},
		{"a number that comes", []policy.Spec{on(stubs.Exit, `set("i", clock.hour, loop.busy)`), on(stubs.Enqueue, `state.i[23] > 9 ? throw("x") : continue()`)}, ""},
		{"another number", []policy.Spec{on(stubs.Exit, `set("i", 1, loop.busy)`), on(stubs.Enqueue, `state.i[2] > 9 ? throw("x") : continue()`)}, "no policy writes the key 2 of the state i"},
	})
}

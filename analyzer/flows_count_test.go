package analyzer

import (
	"maps"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// A count that misses tasks on the way up or down.
func TestCountsThatDrift(t *testing.T) {
	const start, block, unblock, exit, leave, enqueue = stubs.Start, stubs.Block, stubs.Unblock, stubs.Exit, stubs.Leave, stubs.Enqueue
	up := func(events stubs.Event) policy.Spec { return on(events, `add("n", 1)`) }
	down := func(events stubs.Event) policy.Spec { return on(events, `add("n", -1)`) }
	const ends, waits, blocks = ": a task that ends while it has a slot ", ": a task that ends while it waits ", ": a task that blocks "
	checkFlows(t, Declared{}, []flowCase{
		{"running tasks", []policy.Spec{up(start), down(exit)}, ""},
		{"tasks", []policy.Spec{up(enqueue), down(exit | leave)}, ""},
		{"waiting tasks", []policy.Spec{up(enqueue), down(start | leave)}, ""},
		{"blocked tasks", []policy.Spec{up(block), down(unblock)}, ""},
		{"tasks in slots", []policy.Spec{up(start | unblock), down(block | exit)}, ""},
		{"free places", []policy.Spec{down(enqueue), up(exit | leave)}, ""},
		{"from start to leave", []policy.Spec{up(start), down(leave)}, "the state n goes up on start and down on leave" + ends + "stays counted"},
		{"from start to both ends", []policy.Spec{up(start), down(exit | leave)}, "down on exit+leave" + waits + "is taken off, and was never counted"},
		{"from start to block", []policy.Spec{up(start), down(block)}, "down on block" + ends + "stays counted"},
		{"block, never back", []policy.Spec{up(start), down(block | exit)}, "down on block+exit" + blocks + "is taken off more often than it is counted"},
		{"from block to exit", []policy.Spec{up(block), down(exit)}, "goes up on block and down on exit" + ends + "is taken off, and was never counted"},
		{"twice", []policy.Spec{up(enqueue | start), down(exit | leave)}, "goes up on enqueue+start and down on exit+leave" + ends + "stays counted"},
		{"free places that are lost", []policy.Spec{down(enqueue), up(exit)}, "the state n goes up on exit and down on enqueue" + waits + "stays counted"},
		{"a limit", []policy.Spec{up(exit), down(leave)}, ""},
		{"a limit of one policy", []policy.Spec{on(exit, `task.elapsed > duration("1s") ? add("n", -1) : add("n", 1)`)}, ""},
		{"a reset", []policy.Spec{up(enqueue), down(exit), {On: policy.Every(1e9), Expr: `set("n", 0)`}}, ""},
		{"a leak", []policy.Spec{up(enqueue), {On: policy.Every(1e9), Expr: `add("n", -1)`}}, ""},
		{"only up", []policy.Spec{on(enqueue, `state.n >= 10 ? throw("x") : add("n", 1)`)}, "the state n only goes up, so state.n >= 10 is decided for good some day"},
		{"only up, read elsewhere", []policy.Spec{up(start), on(enqueue, `let n = float(state.n); n > 3 ? throw("x") : continue()`)}, "the state n only goes up"},
		{"only up, in a ratio", []policy.Spec{up(start), on(enqueue, `let share = (state.n - 10) / 60; 2 * share > 3 ? throw("x") : continue()`)}, "the state n only goes up, so 2 * share > 3 is decided for good some day"},
		{"only up, in a remainder", []policy.Spec{up(start), on(enqueue, `state.n % 10 > 3 ? throw("x") : continue()`)}, ""},
		{"only up, as a bound", []policy.Spec{up(start), on(enqueue, `queue.length > max(state.n, 10) ? throw("x") : continue()`)}, ""},
		{"only up, against itself", []policy.Spec{on(exit, `add("k", task.name, 1)`), on(enqueue, `state.k[arriving.name] - state.k["b"] > 3 ? throw("x") : continue()`)}, ""},
		{"only down", []policy.Spec{down(enqueue), on(enqueue, `state.n < state.limit ? throw("x") : continue()`)}, "the state n only goes down, so state.n < state.limit is decided"},
		{"a rate", []policy.Spec{up(enqueue), on(enqueue, `rate("n", duration("1m")) > 3 ? throw("x") : continue()`)}, ""},
		{"a rate, and a least number", []policy.Spec{up(enqueue), on(enqueue, `let r = rate("n", duration("1m")); r > 3 and state.n >= 10 ? throw("x") : continue()`)}, ""},
		{"a rate, or a number", []policy.Spec{up(enqueue), on(enqueue, `rate("n", duration("1m")) > 3 or state.n >= 10 ? throw("x") : continue()`)}, "the state n only goes up, so state.n >= 10 is decided for good some day"},
		{"the greatest so far", []policy.Spec{on(exit, `max("n", queue.length)`), on(enqueue, `state.n > 10 ? throw("x") : continue()`)}, "the state n only goes up, so state.n > 10 is decided for good some day"},
		{"on ticks", []policy.Spec{{On: policy.Every(1e9), Expr: `add("n", 1)`}, on(enqueue, `state.n > 10 ? throw("x") : continue()`)}, "the state n only goes up"},
		{"a latch", []policy.Spec{on(exit, `queue.length > 9 ? set("n", 1) : continue()`), on(enqueue, `state.n == 1 ? throw("x") : continue()`)}, `set("n", 1) is all that policies do with the state n: nothing sets it back`},
		{"a latch that is set back", []policy.Spec{on(exit, `queue.length > 9 ? set("n", 1) : set("n", 0)`), on(enqueue, `state.n == 1 ? throw("x") : continue()`)}, ""},
		{"once", []policy.Spec{on(exit, `queue.length > 9 and state.n == 0 ? set("n", 1) : continue()`)}, ""},
		{"a watched key", []policy.Spec{on(exit, `set("k", task.name, 1)`), on(enqueue, `state.k[arriving.name] == 1 ? throw("x") : continue()`)}, ""},
		{"every tenth", []policy.Spec{on(enqueue, `add("n", 1); state.n % 10 == 0 ? throw("x") : continue()`)}, ""},
		{"a share", []policy.Spec{up(enqueue), on(start, `add("limit", 1)`), on(enqueue, `state.n > state.limit * 2 ? throw("x") : continue()`)}, ""},
	})
	states := map[string]policy.State{}
	for name, ttl := range map[string]time.Duration{"k": 0, "ttl": time.Minute} {
		states[name], _ = policy.StateOf(policy.Keyed{First: 0, Keys: 5, TTL: ttl})
	}
	states["spent"], _ = policy.StateOf(policy.Keyed{First: time.Duration(0), Keys: 5, TTL: time.Minute})
	for name, ttl := range map[string]time.Duration{"minutes": 2 * time.Minute, "late": time.Hour, "short": 59 * time.Second} {
		states[name], _ = policy.StateOf(policy.Keyed{First: time.Duration(0), Keys: 500, TTL: ttl, By: []string{"name", "int"}})
	}
	checkFlows(t, Declared{States: states}, []flowCase{
		{"keys that end", []policy.Spec{on(exit, `add("ttl", task.name, 1)`), on(enqueue, `state.ttl[arriving.name] > 3 ? throw("x") : continue()`)}, ""},
		{"keys that end and sum times", []policy.Spec{on(exit, `add("spent", task.name, task.running)`), on(enqueue, `state.spent[arriving.name] > duration("10s") ? throw("x") : continue()`)}, `a ttl is not a window: the state spent keeps a key until no task has written it for 1m0s, so state.spent[arriving.name] > duration... is decided some day`},
		{"keys of a minute", []policy.Spec{on(exit, `add("minutes", task.name, clock.minute, task.running)`), on(enqueue, `state.minutes[arriving.name][clock.minute] > duration("10s") ? throw("x") : continue()`)}, ""},
		{"keys of a minute that end before it", []policy.Spec{on(exit, `add("short", task.name, clock.minute, task.running)`), on(enqueue, `state.short[arriving.name][clock.minute] > duration("10s") ? throw("x") : continue()`)}, "the state short forgets a key 59s after its last write, and clock.minute stays the same for 1m0s: a client that pauses begins anew"},
		{"keys of a minute that end before it, for no throw", []policy.Spec{on(exit, `add("short", task.name, clock.minute, task.running)`), on(enqueue, `rank(state.short[arriving.name][clock.minute])`)}, ""},
		{"keys of a minute that come again", []policy.Spec{on(exit, `add("late", task.name, clock.minute, task.running)`), on(enqueue, `state.late[arriving.name][clock.minute] > duration("10s") ? throw("x") : continue()`)}, "a ttl is not a window: the state late"},
		{"keys that end and are set to sums of times", []policy.Spec{on(exit, `set("spent", task.name, state.spent[task.name] + task.running)`), on(enqueue, `state.spent[arriving.name] > duration("10s") ? throw("x") : continue()`)}, `a ttl is not a window: the state spent`},
		{"keys that end and count failures", []policy.Spec{on(exit, `task.elapsed > duration("1m") ? add("ttl", task.name, 1) : continue()`), on(enqueue, `state.ttl[arriving.name] > 3 ? throw("x") : continue()`)}, ""},
		{"keys that end and count arrivals", []policy.Spec{on(enqueue, `state.ttl[arriving.name] > 3 ? throw("x") : add("ttl", arriving.name, 1)`)}, "a ttl is not a window: the state ttl keeps a key until no task has written it for 1m0s, so state.ttl[arriving.name] > 3 is decided some day"},
		{"keys that stay", []policy.Spec{on(exit, `add("k", task.name, 1)`), on(enqueue, `state.k[arriving.name] > 3 ? throw("x") : continue()`)}, "the state k only goes up, so state.k[arriving.name] > 3 is decided"},
	})
}

// A count that goes up for some tasks and down for other tasks.
func TestCountsOfOtherTasks(t *testing.T) {
	tasks := func(names ...string) policy.Match { return policy.Match{Tasks: names} }
	up, down := on(stubs.Enqueue, `add("n", 1)`), on(stubs.Ends, `add("n", -1)`)
	when := func(cond string, events stubs.Event, effect string) policy.Spec {
		return on(events, cond+` ? `+effect+` : continue()`)
	}
	checkFlows(t, Declared{}, []flowCase{
		{"the same", []policy.Spec{of(tasks("a", "b*"), up), of(tasks("a", "b*"), down)}, ""},
		{"all down", []policy.Spec{of(tasks("a"), up), down}, `the state n goes down and not up for tasks with another task.name than "a"`},
		{"all up", []policy.Spec{up, of(tasks("a"), down)}, `the state n goes up and not down for tasks with another task.name than "a"`},
		{"other names", []policy.Spec{of(tasks("a"), up), of(tasks("b"), down)}, `the state n goes up and not down for tasks with task.name == "a"`},
		{"a narrower pattern", []policy.Spec{of(tasks("GET *"), up), of(tasks("GET /a*"), down)}, `for tasks with task.name == "GET x"`},
		{"an exception", []policy.Spec{up, of(policy.Match{Except: []string{"a"}}, down)}, `for tasks with task.name == "a"`},
		{"kinds", []policy.Spec{of(policy.Match{Kinds: []string{"safe"}}, up), down}, `for tasks with task.kind == "atomic"`},
		{"loops", []policy.Spec{of(policy.Match{Loops: []string{"bulk"}}, up), down}, `for tasks with another loop.name than "bulk"`},
		{"match and condition", []policy.Spec{of(tasks("GET *"), up), when(`task.name in pattern("GET *")`, stubs.Ends, `add("n", -1)`)}, ""},
		{"labels", []policy.Spec{when(`arriving.labels.tier == "gold"`, stubs.Enqueue, `add("n", 1)`), down}, `goes down and not up for tasks with another task.labels["tier"] than "gold"`},
		{"the same labels", []policy.Spec{when(`arriving.labels.tier == "gold"`, stubs.Enqueue, `add("n", 1)`), when(`task.labels.tier == "gold"`, stubs.Ends, `add("n", -1)`)}, ""},
		{"other labels", []policy.Spec{when(`arriving.labels.tier == "gold"`, stubs.Enqueue, `add("n", 1)`), when(`task.labels.tier == "tin"`, stubs.Ends, `add("n", -1)`)}, `for tasks with task.labels["tier"] == "gold"`},
		{"a tenant", []policy.Spec{when(`tenant.name != "gold"`, stubs.Enqueue, `add("n", 1)`), down}, `goes down and not up for tasks with tenant.name == "gold"`},
		{"refused", []policy.Spec{on(stubs.Enqueue, `arriving.name == "a" ? throw("x") : add("n", 1)`), down}, ""},
		{"refused elsewhere", []policy.Spec{when(`arriving.name == "a"`, stubs.Enqueue, `throw("x")`), when(`arriving.name != "a"`, stubs.Enqueue, `add("n", 1)`), down}, ""},
		{"by two policies", []policy.Spec{of(tasks("a"), up), of(tasks("b"), up), of(tasks("a", "b"), down)}, ""},
		{"by the load", []policy.Spec{when(`queue.length > 3`, stubs.Enqueue, `add("n", 1)`), down}, "goes up by 0 or 1 and down by 1 for a task that"},
	})
}

// Limits with a sign in front.
func TestNegativeLimits(t *testing.T) {
	states := maps.Clone(declared)
	states["low"], _ = policy.StateOf(-100)
	states["short"], _ = policy.StateOf(-time.Second)
	checkFlows(t, Declared{States: states}, []flowCase{
		{"a length", []policy.Spec{on(stubs.Enqueue, `queue.length > state.low ? throw("x") : continue()`)}, "the state low is -100, and nothing writes it: queue.length > state.low is always true"},
		{"a time", []policy.Spec{on(stubs.Enqueue, `queue.oldest < state.short ? continue() : throw("x")`)}, "the state short is -1s, and nothing writes it: queue.oldest < state.short is always false"},
		{"a priority", []policy.Spec{on(stubs.Enqueue, `arriving.priority < state.low ? throw("x") : continue()`)}, ""},
		{"a limit that moves", []policy.Spec{on(stubs.Enqueue, `queue.length > state.low ? throw("x") : continue()`), {On: policy.Every(1e9), Expr: `set("low", loop.slots)`}}, ""},
		{"a limit", []policy.Spec{on(stubs.Enqueue, `queue.length > state.limit ? throw("x") : continue()`)}, ""},
	})
}

// Counts that pass a limit that moves, limits that nothing raises, and amounts with bounds.
func TestOneWayLimits(t *testing.T) {
	up := on(stubs.Enqueue, `add("n", max(arriving.priority, 1))`)
	checkFlows(t, Declared{}, []flowCase{
		{"a limit of the hour", []policy.Spec{on(stubs.Enqueue, `state.n >= (clock.hour in 9..17 ? 100 : 200) ? throw("x") : add("n", 1)`)}, "the state n only goes up"},
		{"a limit of the slots", []policy.Spec{on(stubs.Enqueue, `state.n >= clamp(loop.slots * 4, 10, 100) ? throw("x") : add("n", clamp(queue.length, 1, 3))`)}, "the state n only goes up"},
		{"a limit without an end", []policy.Spec{on(stubs.Enqueue, `state.n >= arriving.priority ? throw("x") : add("n", 1)`)}, ""},
		{"a limit that falls", []policy.Spec{on(stubs.Exit, `task.running > duration("1s") ? set("limit", max(state.limit - 1, 1)) : continue()`), on(stubs.Enqueue, `queue.length > state.limit ? throw("x") : continue()`)},
			"the state limit only goes down, so the limit in queue.length > state.limit gets stricter, and never milder"},
		{"a limit that falls and rises", []policy.Spec{on(stubs.Exit, `task.running > duration("1s") ? set("limit", max(state.limit - 1, 1)) : add("limit", 1)`), on(stubs.Enqueue, `queue.length > state.limit ? throw("x") : continue()`)}, ""},
		{"a bound on the way up", []policy.Spec{up, on(stubs.Ends, `add("n", -1)`)}, "the state n goes up by max(task.priority, 1) and down by 1"},
		{"bounds on both ways", []policy.Spec{up, on(stubs.Ends, `add("n", -max(task.priority, 1))`)}, ""},
	})
}

// Limits that fall to 0, counts that are forgotten, and greatest values that nothing lowers.
func TestLeastValues(t *testing.T) {
	above := on(stubs.Enqueue, `queue.length >= state.limit ? throw("x") : continue()`)
	states := maps.Clone(declared)
	for name, ttl := range map[string]time.Duration{"short": time.Second, "long": time.Hour} {
		states[name], _ = policy.StateOf(policy.Keyed{First: 0, Keys: 50, TTL: ttl})
	}
	count := func(state string) []policy.Spec {
		return []policy.Spec{on(stubs.Enqueue, `state.`+state+`[arriving.name] > 9 ? throw("x") : add("`+state+`", arriving.name, 1)`), on(stubs.Ends, `add("`+state+`", task.name, -1)`)}
	}
	checkFlows(t, Declared{States: states}, []flowCase{
		{"halved", []policy.Spec{above, on(stubs.Exit, `task.running < duration("1s") ? add("limit", 1) : set("limit", state.limit / 2)`)},
			`set("limit", state.limit / 2) lowers the state to 0 in the end, and queue.length >= state.limit then holds for all tasks`},
		{"doubled", []policy.Spec{above, on(stubs.Exit, `task.running > duration("1s") ? add("limit", -1) : set("limit", state.limit * 2)`)},
			`set("limit", state.limit * 2) raises the state without end, and queue.length >= state.limit then holds for no task`},
		{"doubled up to 99", []policy.Spec{above, on(stubs.Exit, `task.running > duration("1s") ? add("limit", -1) : set("limit", min(state.limit * 2, 99))`)}, ""},
		{"halved down to 1", []policy.Spec{above, on(stubs.Exit, `task.running < duration("1s") ? add("limit", 1) : set("limit", max(state.limit / 2, 1))`)}, ""},
		{"a mean", []policy.Spec{on(stubs.Exit, `set("d", state.d / 2 + task.running / 2)`), on(stubs.Enqueue, `queue.oldest > state.d ? throw("x") : continue()`)}, ""},
		{"keys that end soon", count("short"), "the state short forgets a key 1s after its last write"},
		{"keys that end late", count("long"), ""},
		{"a greatest value", []policy.Spec{on(stubs.Exit, `set("d", max(state.d, task.running))`), on(stubs.Enqueue, `state.d > duration("1s") ? throw("x") : continue()`)}, "the state d only goes up"},
		{"a greatest value that falls", []policy.Spec{on(stubs.Exit, `set("d", max(state.d, task.running))`), on(stubs.Block, `set("d", duration("0s"))`), on(stubs.Enqueue, `state.d > duration("1s") ? throw("x") : continue()`)}, ""},
	})
}

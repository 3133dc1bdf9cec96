package analyzer

import (
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Conditions that are most likely the wrong way round, and values that hide behind a let.
func TestContraryPolicies(t *testing.T) {
	tick, enqueue := policy.Every(time.Millisecond), policy.On(stubs.Enqueue)
	const idle, long = "refuses tasks while queue.length is low, and none while it is high", "tasks that have much time, and none that have little"
	for _, c := range []struct {
		on         policy.Trigger
		expr, want string // want "": no warning
	}{
		{enqueue, `queue.length < 100 ? throw("x") : continue()`, idle},
		{enqueue, `queue.length > 100 ? throw("x") : continue()`, ""},
		{enqueue, `queue.length < 100 ? continue() : throw("x")`, ""},
		{enqueue, `chance(1.0 - float(queue.length) / 100.0) ? throw("x") : continue()`, idle},
		{enqueue, `chance(float(queue.length) / 100.0) ? throw("x") : continue()`, ""},
		{enqueue, `arriving.name == "batch" and queue.length == 0 ? throw("x") : continue()`, idle},
		{enqueue, `queue.length > 3 or arriving.priority < 0 ? throw("x") : continue()`, ""},
		{tick, `not task.cancelled ? throw("x") : continue()`, "ends tasks that have a caller, and no others"},
		{tick, `task.cancelled ? throw("x") : continue()`, ""},
		{tick, `queue.safe > 0 and task.priority > 0 ? switch() : continue()`, "suspends urgent tasks, and no others: a greater priority is more urgent"},
		{tick, `queue.safe > 0 and task.priority < 5 ? switch() : continue()`, ""},
		{enqueue, `arriving.priority > 5 ? switch() : continue()`, ""},
		{enqueue, `arriving.priority > task.priority ? switch() : continue()`, ""},
		{tick, `add("n", state.n + 1)`, `add("n", state.n + 1) adds the state to itself`},
		{tick, `add("limit", -state.limit / 10)`, ""},
		{tick, `task.deadline > duration("0s") ? throw("x") : continue()`, long},
		{tick, `task.deadline < duration("0s") ? throw("x") : continue()`, ""},
		{tick, `not task.cancelled and task.running > duration("1s") ? throw("x") : continue()`, ""},
		{enqueue, `arriving.deadline > duration("1h") ? throw("set a deadline") : continue()`, ""},
		{tick, `class.tasks > 10 ? throw("x") : continue()`, "ends all running tasks of the name at once"},
		{tick, `tenant.running > duration("1h") ? throw("x") : continue()`, "tenant.running only goes up"},
		{tick, `tenant.rate > 100 and task.running > duration("1s") ? throw("x") : continue()`, ""},
		{tick, `class.tasks > 10 and task.running > duration("1s") ? throw("x") : continue()`, ""},
		{tick, `queue.length == 0 ? interval(duration("10s")) : switch()`, "nothing brings it back"},
		{tick, `queue.length == 0 ? (interval(duration("10s")); continue()) : (interval(duration("1ms")); switch())`, ""},
		{tick, `runtime.uptime > duration("1m") ? interval(duration("10s")) : switch()`, ""},
		{policy.Trigger{Interval: time.Second, Events: stubs.Start}, `queue.length > 3 ? interval(duration("1ms")) : switch()`, ""},
		{enqueue, `let ok = take("bucket", 1); ok ? throw("x") : continue()`, `take("bucket", 1) is true when there are tokens, and then the policy throws`},
		{enqueue, `let ok = take("bucket", 1); not ok ? continue() : throw("x")`, "and then the policy throws"},
		{enqueue, `let ok = take("bucket", 1); not ok ? throw("x") : continue()`, ""},
		{enqueue, `queue.length > 5 and take("bucket", 1) ? throw("x") : continue()`, ""}, // ten refusals a second at most
		{enqueue, `let busy = queue.length / loop.slots; float(busy) > 0.5 ? throw("x") : continue()`, "queue.length / loop.slots drops the fraction before float() sees it"},
		{enqueue, `let busy = queue.length / 100; float(busy) > 0.5 ? throw("x") : continue()`, "queue.length / 100 drops the fraction, and is compared with 0.5"},
		{enqueue, `float(queue.length / 100) > 2.0 ? throw("x") : continue()`, ""},
		{enqueue, `float(queue.length) / 100.0 > 0.5 ? throw("x") : continue()`, ""},
		{enqueue, `chance(float(queue.length / 100)) ? throw("x") : continue()`, "is not a chance: float(queue.length / 100) is a whole number"},
		{enqueue, `let p = min(float(queue.length), 1.0); chance(p) ? throw("x") : continue()`, "chance(p) is not a chance: min(float(queue.length), 1.0) is a whole number"},
		{enqueue, `chance(min(float(queue.length) / 100.0, 1.0)) ? throw("x") : continue()`, ""},
		{enqueue, `queue.length > 9 ? throw("x", queue.oldest) : continue()`, ""},
		{enqueue, `runtime.uptime > state.d ? throw("x", state.d - runtime.uptime) : continue()`, "the retry time state.d - runtime.uptime is never above 0 here"},
		{enqueue, `runtime.uptime < state.d ? throw("x", state.d - runtime.uptime) : continue()`, ""},
		{enqueue, `queue.length > 9 ? throw("x", duration("5ns")) : continue()`, "a retry time of 5ns tells the caller nothing"},
		{enqueue, `rank(arriving.priority * 10)`, "starts the least urgent task first"},
		{enqueue, `rank(clamp(arriving.priority, -10, 10))`, "starts the least urgent task first"},
		{enqueue, `arriving.labels.t == "x" ? rank(0) : rank(1 + arriving.priority)`, "starts the least urgent task first"},
		{enqueue, `let p = arriving.priority; rank(p * -10)`, ""},
		{enqueue, `rank(10 - arriving.priority)`, ""},
		{enqueue, `rank(arriving.priority * queue.length * (queue.length - 5))`, ""},
		{enqueue, `arriving.priority > 0 ? rank(runtime.uptime) : continue()`, "the least urgent task starts first"},
		{enqueue, `arriving.priority > 5 ? rank(10) : rank(0)`, "a task with a priority above 0 gets a rank that is 0 to 10, and another task one that is always 0"},
		{enqueue, `arriving.priority < 0 ? rank(1) : continue()`, ""},
		{enqueue, `arriving.priority > 0 ? rank(-1) : arriving.priority < 0 ? rank(1) : continue()`, ""},
		{enqueue, `rank(-arriving.virtual_time)`, "starts the tenant first that has had most"},
		{enqueue, `rank(arriving.virtual_time)`, ""},
		{enqueue, `rank(-arriving.deadline)`, "starts tasks without a deadline first"},
		{enqueue, `rank(arriving.deadline - runtime.uptime)`, "counts the time of arrival the other way round"},
		{enqueue, `rank(runtime.uptime + arriving.deadline)`, ""},
		{enqueue, `state.f > 0.7 ? set("n", 1) : state.f < 0.9 ? set("n", 0) : continue()`, "state.f < 0.9 is always true: state.f is"},
		{enqueue, `state.f > 0.9 ? set("n", 1) : state.f < 0.7 ? set("n", 0) : continue()`, ""},
		{enqueue, `let m = average("f", duration("1m")); m > 3 ? set("n", 1) : m < 9 ? set("n", 0) : continue()`, "m < 9 is always true"},
		{enqueue, `state.f > 0.7 ? set("n", 1) : state.f <= 0.7 ? set("n", 0) : continue()`, "state.f <= 0.7 is always true"},
		{enqueue, `rank(runtime.uptime - arriving.deadline)`, "write rank(runtime.uptime + arriving.deadline)"},
		{enqueue, `queue.oldest > duration("1s") ? rank(-arriving.deadline) : rank(arriving.deadline)`, ""},
		{enqueue, `rank(-arriving.cost)`, ""},
		{enqueue, `average("n", duration("1m")) > average("n", duration("1m")) * 0.1 ? throw("x") : continue()`, `are about average("n", duration("1m0s")) alone`},
		{enqueue, `let n = queue.length; n > loop.slots * 2 and queue.length > n / 2 ? throw("x") : continue()`, "both sides of queue.length > n / 2 are about queue.length alone"},
		{enqueue, `average("n", duration("1m")) > average("n", duration("1h")) * 2 ? throw("x") : continue()`, ""},
		{enqueue, `queue.length > max(queue.length / 2, loop.slots) ? throw("x") : continue()`, ""},
		{enqueue, `max(queue.length, queue.length * 2) > 9 ? throw("x") : continue()`, ""},
		{tick, `task.running > duration("5s") ? cancel() : continue()`, "cancel() is about the policy, and the policy does nothing else"},
		{tick, `queue.length > 3 ? interval(duration("1ms")) : interval(duration("1s"))`, "is about the policy"},
		{tick, `queue.length > 3 ? (set("n", 1); cancel()) : continue()`, ""},
		{policy.On(stubs.Block), `add("d", task.running)`, "adds all the time of the task on each block"},
		{tick, `add("d", task.slice)`, "may be carried out several times"},
		{policy.On(stubs.Block | stubs.Exit), `let t = task.running; add("d", t)`, "adds all the time of the task on each block+exit"},
		{policy.On(stubs.Ends), `add("d", task.running)`, ""},
		{policy.On(stubs.Exit), `task.running < duration("1ms") ? add("d", task.running) : continue()`, ""},
		{enqueue, `arriving.priority > 0 ? background() : continue()`, "only tasks with a priority above 0 go to the background"},
		{enqueue, `arriving.priority < 0 ? background() : continue()`, ""},
		{enqueue, `arriving.priority > 5 and arriving.labels.staff != "yes" ? background() : continue()`, ""},
		{enqueue, `arriving.name == "a" ? continue() : arriving.priority > 5 ? background() : continue()`, ""},
		{enqueue, `arriving.priority > 5 ? background() : arriving.name == "a" ? throw("x") : continue()`, "only tasks with a priority above 0 go to the background"},
		{enqueue, `arriving.priority > 0 and arriving.name == "a" or arriving.priority < 0 ? background() : continue()`, ""},
		{enqueue, `queue.oldest + arriving.cost < arriving.deadline ? throw("x") : continue()`, long},
		{enqueue, `queue.oldest + arriving.cost > arriving.deadline ? throw("x") : continue()`, ""},
		{enqueue, `arriving.deadline > duration("1h") and arriving.cost > duration("1s") ? throw("x") : continue()`, ""},
	} {
		got := warning(t, policy.Spec{On: c.on, Expr: c.expr})
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", c.expr, got, c.want)
		}
	}
}

// Policies that come too late, or with ranks that do not count.
func TestPoliciesBehindOthers(t *testing.T) {
	refuse := func(cond string) policy.Spec { return on(stubs.Enqueue, cond+` ? throw("x") : continue()`) }
	tasks := func(names ...string) policy.Match { return policy.Match{Tasks: names} }
	rank := func(expr string) policy.Spec { return on(stubs.Enqueue, expr) }
	const behind, later = `throw("x") is never reached: the policy "p0" is evaluated before, and refuses these tasks`, `changes nothing: the policy "p1" is evaluated later and ranks these tasks, too`
	checkFlows(t, Declared{}, []flowCase{
		{"the higher limit first", []policy.Spec{refuse(`queue.length > 50`), refuse(`queue.length > 5`)}, ""},
		{"the lower limit first", []policy.Spec{refuse(`queue.length > 5`), refuse(`queue.length > 50`)}, behind},
		{"for some tasks", []policy.Spec{refuse(`queue.length > 5`), of(tasks("a"), refuse(`queue.length > 50`))}, behind},
		{"for all but some", []policy.Spec{of(tasks("a"), refuse(`queue.length > 5`)), refuse(`queue.length > 50`)}, ""},
		{"with an exception", []policy.Spec{refuse(`queue.length > 5 and arriving.labels.tier != "gold"`), refuse(`queue.length > 50`)}, ""},
		{"of another length", []policy.Spec{refuse(`queue.length > 5`), refuse(`queue.length > 50 or class.tasks > 3`)}, ""},
		{"in another mode", []policy.Spec{in(policy.Observe, refuse(`queue.length > 5`)), refuse(`queue.length > 50`)}, ""},
		{"by chance", []policy.Spec{refuse(`queue.length > 5 and chance(0.5)`), refuse(`queue.length > 50`)}, ""},
		{"by a state", []policy.Spec{{On: policy.Every(time.Second), Expr: `set("n", loop.busy)`}, refuse(`state.n > 5`), refuse(`state.n > 50`)}, ""},
		{"a rank for some, then for all", []policy.Spec{of(tasks("a"), rank(`rank(-1)`)), rank(`rank(arriving.priority < 0 ? 2 : 0)`)}, "rank(-1) " + later},
		{"a rank for all, then for some", []policy.Spec{rank(`rank(arriving.priority < 0 ? 2 : 0)`), of(tasks("a"), rank(`rank(-1)`))}, ""},
		{"a rank for some, then for others", []policy.Spec{of(tasks("a"), rank(`rank(-1)`)), of(policy.Match{Except: []string{"a"}}, rank(`rank(arriving.priority < 0 ? 2 : 0)`))}, ""},
		{"a rank for some, then by a wider pattern", []policy.Spec{of(tasks("a*"), rank(`rank(-1)`)), of(tasks("*"), rank(`rank(arriving.priority < 0 ? 2 : 0)`))}, "rank(-1) " + later},
		{"the order of arrival", []policy.Spec{rank(`rank(runtime.uptime)`)}, "rank(runtime.uptime) changes nothing: without it tasks start in the order of their arrival, too"},
		{"the last first", []policy.Spec{rank(`rank(-runtime.uptime)`)}, ""},
	})
}

// States with fewer keys than their stubs have values.
func TestCrowdedKeys(t *testing.T) {
	states := map[string]policy.State{}
	for name, k := range map[string]policy.Keyed{"one": {First: 0, Keys: 1}, "ints": {First: 0, Keys: 12, By: []string{"int"}}, "day": {First: 0, Keys: 24, By: []string{"int"}}} {
		states[name], _ = policy.StateOf(k)
	}
	checkFlows(t, Declared{States: states}, []flowCase{
		{"one key", []policy.Spec{on(stubs.Exit, `set("one", task.name, loop.busy)`)}, "the state one keeps 1 keys, and task.name has more values"},
		{"one constant", []policy.Spec{on(stubs.Exit, `set("one", "all", loop.busy)`)}, ""},
		{"one loop", []policy.Spec{on(stubs.Exit, `set("one", loop.name, loop.busy)`)}, ""},
		{"half a day", []policy.Spec{on(stubs.Exit, `set("ints", clock.hour, loop.busy)`)}, "the state ints keeps 12 keys, and clock.hour has more values"},
		{"a day", []policy.Spec{on(stubs.Exit, `set("day", clock.hour, loop.busy)`)}, ""},
		{"shards", []policy.Spec{on(stubs.Exit, `set("ints", int(task.labels.shard), loop.busy)`)}, ""},
	})
}

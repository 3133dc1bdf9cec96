package analyzer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

func on(events stubs.Event, expr string) policy.Spec {
	return policy.Spec{On: policy.On(events), Expr: expr}
}

func of(m policy.Match, s policy.Spec) policy.Spec { s.Match = m; return s }

func in(m policy.Mode, s policy.Spec) policy.Spec { s.Mode = m; return s }

type flowCase struct {
	name  string
	specs []policy.Spec
	want  string // a part of the only remark; "": there is none
}

func checkFlows(t *testing.T, d Declared, cases []flowCase) {
	t.Helper()
	states := declared
	if d.States == nil {
		d.States = states
	}
	for _, c := range cases {
		got := remarks(Flows(members(t, d.States, c.specs...), d))
		if (c.want == "") != (len(got) == 0) || len(got) > 1 || !strings.Contains(fmt.Sprint(got), c.want) {
			t.Errorf("%s:\n got %q\nwant %s", c.name, got, c.want)
		}
	}
}

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
		{"only down", []policy.Spec{down(enqueue), on(enqueue, `state.n < state.limit ? throw("x") : continue()`)}, "the state n only goes down, so state.n < state.limit is decided"},
		{"a rate", []policy.Spec{up(enqueue), on(enqueue, `rate("n", duration("1m")) > 3 ? throw("x") : continue()`)}, ""},
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
	checkFlows(t, Declared{States: states}, []flowCase{
		{"keys that end", []policy.Spec{on(exit, `add("ttl", task.name, 1)`), on(enqueue, `state.ttl[arriving.name] > 3 ? throw("x") : continue()`)}, ""},
		{"keys that stay", []policy.Spec{on(exit, `add("k", task.name, 1)`), on(enqueue, `state.k[arriving.name] > 3 ? throw("x") : continue()`)}, "the state k only goes up, so state.k[arriving.name] > 3 is decided"},
	})
}

// A count that goes up for some tasks and down for others.
func TestCountsOfOtherTasks(t *testing.T) {
	tasks := func(names ...string) policy.Match { return policy.Match{Tasks: names} }
	up, down := on(stubs.Enqueue, `add("n", 1)`), on(stubs.Ends, `add("n", -1)`)
	when := func(cond string, events stubs.Event, effect string) policy.Spec {
		return on(events, cond+` ? `+effect+` : continue()`)
	}
	checkFlows(t, Declared{}, []flowCase{
		{"the same", []policy.Spec{of(tasks("a", "b*"), up), of(tasks("a", "b*"), down)}, ""},
		{"all down", []policy.Spec{of(tasks("a"), up), down}, "the state n goes down and not up for tasks with any other task.name"},
		{"all up", []policy.Spec{up, of(tasks("a"), down)}, "the state n goes up and not down for tasks with any other task.name"},
		{"other names", []policy.Spec{of(tasks("a"), up), of(tasks("b"), down)}, `the state n goes up and not down for tasks with task.name == "a"`},
		{"a narrower pattern", []policy.Spec{of(tasks("GET *"), up), of(tasks("GET /a*"), down)}, `for tasks with task.name == "GET x"`},
		{"an exception", []policy.Spec{up, of(policy.Match{Except: []string{"a"}}, down)}, `for tasks with task.name == "a"`},
		{"kinds", []policy.Spec{of(policy.Match{Kinds: []string{"safe"}}, up), down}, `for tasks with task.kind == "atomic"`},
		{"loops", []policy.Spec{of(policy.Match{Loops: []string{"bulk"}}, up), down}, "for tasks with any other loop.name"},
		{"match and condition", []policy.Spec{of(tasks("GET *"), up), when(`task.name in pattern("GET *")`, stubs.Ends, `add("n", -1)`)}, ""},
		{"labels", []policy.Spec{when(`arriving.labels.tier == "gold"`, stubs.Enqueue, `add("n", 1)`), down}, `goes down and not up for tasks with any other task.labels["tier"]`},
		{"the same labels", []policy.Spec{when(`arriving.labels.tier == "gold"`, stubs.Enqueue, `add("n", 1)`), when(`task.labels.tier == "gold"`, stubs.Ends, `add("n", -1)`)}, ""},
		{"other labels", []policy.Spec{when(`arriving.labels.tier == "gold"`, stubs.Enqueue, `add("n", 1)`), when(`task.labels.tier == "tin"`, stubs.Ends, `add("n", -1)`)}, `for tasks with task.labels["tier"] == "gold"`},
		{"a tenant", []policy.Spec{when(`tenant.name != "gold"`, stubs.Enqueue, `add("n", 1)`), down}, `goes down and not up for tasks with tenant.name == "gold"`},
		{"refused", []policy.Spec{on(stubs.Enqueue, `arriving.name == "a" ? throw("x") : add("n", 1)`), down}, ""},
		{"refused elsewhere", []policy.Spec{when(`arriving.name == "a"`, stubs.Enqueue, `throw("x")`), when(`arriving.name != "a"`, stubs.Enqueue, `add("n", 1)`), down}, ""},
		{"by two policies", []policy.Spec{of(tasks("a"), up), of(tasks("b"), up), of(tasks("a", "b"), down)}, ""},
		{"by the load", []policy.Spec{when(`queue.length > 3`, stubs.Enqueue, `add("n", 1)`), down}, ""},
	})
}

// Writers that do not enforce write nothing that enforcing readers see.
func TestShadowedStates(t *testing.T) {
	write, read := on(stubs.Exit, `set("n", loop.busy)`), on(stubs.Enqueue, `state.n > 3 ? throw("x") : continue()`)
	up, down := on(stubs.Enqueue, `add("n", 1)`), on(stubs.Ends, `add("n", -1)`)
	own := on(stubs.Exit, `set("own", loop.busy); state.own > 3 ? set("n", 3) : continue()`)
	own.State = map[string]any{"own": 0}
	checkFlows(t, Declared{}, []flowCase{
		{"both enforce", []policy.Spec{write, read}, ""},
		{"both observe", []policy.Spec{in(policy.Observe, write), in(policy.Observe, read)}, ""},
		{"the reader observes", []policy.Spec{write, in(policy.Observe, read)}, ""},
		{"the writer observes", []policy.Spec{in(policy.Observe, write), read}, `only the policy "p0" writes the state n, and in mode observe it writes a shadow: this policy, in mode enforce, reads the first value`},
		{"the writer is off", []policy.Spec{in(policy.Off, write), read}, `in mode off it writes nothing`},
		{"one of two writers", []policy.Spec{write, in(policy.Observe, write), read}, ""},
		{"a private state", []policy.Spec{in(policy.Observe, own)}, ""},
		{"a count that is observed on the way down", []policy.Spec{up, in(policy.Observe, down)}, "the state n goes up in a policy in mode enforce, and down in this one alone: in mode observe it writes a shadow"},
		{"a count that is observed on the way up", []policy.Spec{in(policy.Off, up), down}, "the state n goes down in a policy in mode enforce, and up in this one alone: in mode off it writes nothing"},
	})
}

// Keys of different kinds never meet.
func TestStrangeKeys(t *testing.T) {
	states := map[string]policy.State{}
	for name, by := range map[string][]string{"k": nil, "i": {"int"}, "p": {"name", "name"}} {
		states[name], _ = policy.StateOf(policy.Keyed{First: 0, Keys: 5, By: by})
	}
	states["b"], _ = policy.StateOf(policy.Keyed{First: policy.Bucket{Rate: 1, Burst: 5}, Keys: 5})
	write := func(key string) policy.Spec { return on(stubs.Exit, `set("k", `+key+`, loop.busy)`) }
	read := func(key string) policy.Spec {
		return on(stubs.Enqueue, `state.k[`+key+`] > 3 ? throw("x") : continue()`)
	}
	checkFlows(t, Declared{States: states, Tenant: "shop"}, []flowCase{
		{"the same", []policy.Spec{write("task.name"), read("arriving.name")}, ""},
		{"a let", []policy.Spec{on(stubs.Exit, `let t = tenant.name; set("k", t, 1)`), read("tenant.name")}, ""},
		{"a tenant and a name", []policy.Spec{write("tenant.name"), read("arriving.name")}, "the state k is read by task.name, and written by tenant.name alone: the keys never meet"},
		{"of two writers one", []policy.Spec{write("tenant.name"), write("task.name"), read("arriving.name")}, ""},
		{"a constant", []policy.Spec{write(`"gold"`), read("tenant.name")}, ""},
		{"the label of the tenants", []policy.Spec{write("task.labels.shop"), read("tenant.name")}, ""},
		{"another label", []policy.Spec{write("task.labels.user"), read("tenant.name")}, `read by tenant.name, and written by task.labels["user"] alone`},
		{"two labels", []policy.Spec{write("task.labels.user"), read("arriving.labels.name")}, `read by task.labels["name"], and written by task.labels["user"]`},
		{"a bucket", []policy.Spec{on(stubs.Enqueue, `take("b", arriving.name, 1) ? continue() : throw("x")`)}, ""},
		{"a bucket that others take from", []policy.Spec{on(stubs.Start, `take("b", task.name, 1) ? continue() : throw("x")`), on(stubs.Enqueue, `state.b[tenant.name] < 1 ? throw("x") : continue()`)},
			"the state b is read by tenant.name, and written by task.name alone"},
		{"an event", []policy.Spec{on(stubs.Custom, `set("k", event.name, int(event.value))`), read("tenant.name")}, ""},
		{"pairs", []policy.Spec{on(stubs.Exit, `set("p", tenant.name, task.name, 1)`), on(stubs.Enqueue, `state.p[tenant.name][arriving.name] > 3 ? throw("x") : continue()`)}, ""},
		{"pairs the other way", []policy.Spec{on(stubs.Exit, `set("p", task.name, tenant.name, 1)`), on(stubs.Enqueue, `state.p[tenant.name][arriving.name] > 3 ? throw("x") : continue()`)},
			"the state p is read by tenant.name and task.name, and written by task.name and tenant.name alone"},
		{"ints", []policy.Spec{on(stubs.Exit, `set("i", clock.hour, 1)`), on(stubs.Enqueue, `state.i[clock.minute] > 3 ? throw("x") : continue()`)}, "read by clock.minute, and written by clock.hour alone"},
		{"ints of labels", []policy.Spec{on(stubs.Exit, `set("i", int(task.labels.a), 1)`), on(stubs.Enqueue, `state.i[clock.minute] > 3 ? throw("x") : continue()`)}, ""},
	})
	checkFlows(t, Declared{States: states}, []flowCase{
		{"unknown tenants", []policy.Spec{write("task.labels.user"), read("tenant.name")}, ""},
	})
}

// Ranks of one queue.
func TestRanksOfOneQueue(t *testing.T) {
	rank := func(expr string) policy.Spec { return on(stubs.Enqueue, expr) }
	gold := policy.Match{Tasks: []string{"gold"}}
	checkFlows(t, Declared{}, []flowCase{
		{"by priority", []policy.Spec{rank(`rank(-arriving.priority)`)}, ""},
		{"all alike", []policy.Spec{rank(`rank(5)`)}, "rank(5) changes nothing: all tasks of the queue have this rank"},
		{"0 for some", []policy.Spec{of(gold, rank(`rank(0)`))}, "rank(0) changes nothing"},
		{"a number for some", []policy.Spec{of(gold, rank(`rank(-1)`))}, ""},
		{"a number at times", []policy.Spec{rank(`arriving.priority > 0 ? rank(-1) : continue()`)}, ""},
		{"two units", []policy.Spec{rank(`rank(arriving.deadline)`), of(gold, rank(`rank(-arriving.priority)`))}, `its ranks are of type int, and those of the policy "p0" of type duration`},
		{"a constant before all", []policy.Spec{rank(`rank(arriving.deadline)`), of(gold, rank(`rank(-1)`))}, ""},
		{"the same tasks", []policy.Spec{rank(`rank(-arriving.priority)`), rank(`rank(task.priority - arriving.priority)`)}, `the policy "p0" ranks the same tasks, too: the last rank of a task counts`},
		{"other loops", []policy.Spec{of(policy.Match{Loops: []string{"a"}}, rank(`rank(arriving.deadline)`)), of(policy.Match{Loops: []string{"b"}}, rank(`rank(-arriving.priority)`))}, ""},
		{"the order fifo", []policy.Spec{policy.FirstInFirstOut()}, ""},
	})
}

// States that keep their first values, and states that nothing reads.
func TestFirstValuesAlone(t *testing.T) {
	reads := on(stubs.Enqueue, `state.n > 3 ? throw("x") : continue()`)
	states := map[string]policy.State{"n": declared["n"]}
	for expr, want := range map[string]string{
		`set("n", 0)`: `[state "n": policies give it its first value and no other]`,
		`set("n", 1)`: "[]", `add("n", 1)`: "[]", `set("n", loop.busy)`: "[]",
		`loop.busy > 1 ? set("n", 0) : set("n", 1)`: "[]",
	} {
		m := members(t, declared, reads, on(stubs.Exit, expr))
		if got := fmt.Sprint(remarks(Idle(m, states))); got != want {
			t.Errorf("%s: got %s, want %s", expr, got, want)
		}
		if unread := Unread(m[1:], states); !slices.Equal(unread, []string{"n"}) || Unread(m, states) != nil {
			t.Errorf("%s: unread %q", expr, unread)
		}
	}
	own := on(stubs.Exit, `state.own > 3 ? set("n", 1) : set("own", 0)`)
	own.State = map[string]any{"own": 0}
	if got := warning(t, own); !strings.HasPrefix(got, "the policy gives the private state own its first value and no other") {
		t.Error(got)
	}
}

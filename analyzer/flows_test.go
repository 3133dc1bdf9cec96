package analyzer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/ir"
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
		states[name], _ = policy.StateOf(policy.Keyed{First: 0, Keys: 60, By: by})
	}
	states["b"], _ = policy.StateOf(policy.Keyed{First: policy.Bucket{Rate: 1, Burst: 5}, Keys: 5})
	write := func(key string) policy.Spec { return on(stubs.Exit, `set("k", `+key+`, loop.busy)`) }
	read := func(key string) policy.Spec {
		return on(stubs.Enqueue, `state.k[`+key+`] > 3 ? throw("x") : continue()`)
	}
	event := func(name, expr string) policy.Spec { return policy.Spec{On: policy.OnCustom(name), Expr: expr} }
	checkFlows(t, Declared{States: states, Tenant: "shop"}, []flowCase{
		{"the same", []policy.Spec{write("task.name"), read("arriving.name")}, ""},
		{"a let", []policy.Spec{on(stubs.Exit, `let t = tenant.name; set("k", t, loop.busy)`), read("tenant.name")}, ""},
		{"a tenant and a name, and a reset", []policy.Spec{write("tenant.name"), read("arriving.name"), on(stubs.Start, `set("k", task.name, 0)`)}, "the state k is read by arriving.name, and written by tenant.name alone"},
		{"a tenant and a name, and another value", []policy.Spec{write("tenant.name"), read("arriving.name"), on(stubs.Start, `set("k", task.name, 4)`)}, ""},
		{"a tenant and a name", []policy.Spec{write("tenant.name"), read("arriving.name")}, "the state k is read by arriving.name, and written by tenant.name alone: the keys never meet"},
		{"of two writers one", []policy.Spec{write("tenant.name"), write("task.name"), read("arriving.name")}, ""},
		{"a constant", []policy.Spec{write(`"gold"`), read("tenant.name")}, ""},
		{"the label of the tenants", []policy.Spec{write("task.labels.shop"), read("tenant.name")}, ""},
		{"another label", []policy.Spec{write("task.labels.user"), read("tenant.name")}, `read by tenant.name, and written by task.labels["user"] alone`},
		{"two labels", []policy.Spec{write("task.labels.user"), read("arriving.labels.name")}, `read by arriving.labels["name"], and written by task.labels["user"]`},
		{"a bucket", []policy.Spec{on(stubs.Enqueue, `take("b", arriving.name, 1) ? continue() : throw("x")`)}, ""},
		{"a bucket that others take from", []policy.Spec{on(stubs.Start, `take("b", task.name, 1) ? continue() : throw("x")`), on(stubs.Enqueue, `state.b[tenant.name] < 1 ? throw("x") : continue()`)},
			"the state b is read by tenant.name, and written by task.name alone"},
		{"an event", []policy.Spec{on(stubs.Custom, `set("k", event.name, int(event.value))`), read("tenant.name")}, ""},
		{"one event", []policy.Spec{event("fail", `add("k", event.name, 1)`), event("ok", `set("k", "fail", 0)`), read("arriving.labels.user")}, ""},
		{"one event alone", []policy.Spec{event("fail", `add("k", event.name, -1)`), event("over", `add("k", event.name, 1)`), read("arriving.labels.user")},
			`the state k is read by arriving.labels["user"], and written by event.name, which is "fail" here, alone: the keys never meet`},
		{"one event that a policy names", []policy.Spec{event("fail", `set("k", event.name, int(event.value))`), read(`"fail"`)}, ""},
		{"pairs", []policy.Spec{on(stubs.Exit, `set("p", tenant.name, task.name, loop.busy)`), on(stubs.Enqueue, `state.p[tenant.name][arriving.name] > 3 ? throw("x") : continue()`)}, ""},
		{"pairs the other way", []policy.Spec{on(stubs.Exit, `set("p", task.name, tenant.name, loop.busy)`), on(stubs.Enqueue, `state.p[tenant.name][arriving.name] > 3 ? throw("x") : continue()`)},
			"the state p is read by tenant.name and arriving.name, and written by task.name and tenant.name alone"},
		{"ints", []policy.Spec{on(stubs.Exit, `set("i", clock.hour, loop.busy)`), on(stubs.Enqueue, `state.i[clock.minute] > 3 ? throw("x") : continue()`)}, "read by clock.minute, and written by clock.hour alone"},
		{"ints of labels", []policy.Spec{on(stubs.Exit, `set("i", int(task.labels.a), loop.busy)`), on(stubs.Enqueue, `state.i[clock.minute] > 3 ? throw("x") : continue()`)}, ""},
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
		{"a small number beside moments", []policy.Spec{rank(`arriving.priority > 0 ? rank(runtime.uptime - duration("5s")) : rank(10)`)}, "10 is a small number next to runtime.uptime - duration(\"5s\"), which grows as time passes: these tasks start before the others"},
		{"a span beside moments", []policy.Spec{rank(`arriving.labels.tier == "gold" ? rank(runtime.uptime) : rank(duration("1s"))`)}, `duration("1s") is a small number next to runtime.uptime`},
		{"a number below 0 beside moments", []policy.Spec{rank(`arriving.labels.tier == "gold" ? rank(-1) : rank(runtime.uptime + arriving.deadline)`)}, ""},
		{"0 beside moments", []policy.Spec{rank(`arriving.labels.tier == "gold" ? rank(0) : rank(runtime.uptime + arriving.deadline)`)}, ""},
		{"no rank beside moments", []policy.Spec{rank(`arriving.labels.tier == "gold" ? rank(runtime.uptime - duration("5s")) : continue()`)}, `tasks that the policy leaves without a rank, which is 0, start before all others: runtime.uptime - duration("5s") grows as time passes`},
		{"no rank beside turns", []policy.Spec{rank(`tenant.tasks > 9 ? rank(arriving.virtual_time) : continue()`)}, `arriving.virtual_time grows as time passes`},
		{"refused beside moments", []policy.Spec{rank(`queue.length > 99 ? throw("x") : arriving.priority < 0 ? background() : rank(runtime.uptime + arriving.deadline)`)}, ""},
		{"moments for some names", []policy.Spec{of(gold, rank(`rank(runtime.uptime + arriving.deadline)`))}, ""},
		{"0 for some", []policy.Spec{of(gold, rank(`rank(0)`))}, "rank(0) changes nothing"},
		{"a number for some", []policy.Spec{of(gold, rank(`rank(-1)`))}, ""},
		{"a number at times", []policy.Spec{rank(`arriving.priority > 0 ? rank(-1) : continue()`)}, ""},
		{"a bound of max", []policy.Spec{on(stubs.Enqueue, `let next = min(2 * state.d, duration("1m")); next > duration("1s") ? throw("x") : set("d", next)`)}, `next > duration("1s") is always false: state.d is always 0s, by all that policies write`},
		{"keys of the arriving task", []policy.Spec{on(stubs.Enqueue, `add("k", arriving.labels.a, 1)`), on(stubs.Ends, `add("k", task.labels.b, -1)`)}, `goes up by the key arriving.labels["a"] and down by task.labels["b"]: the keys never meet`},
		{"a take for nothing", []policy.Spec{on(stubs.Enqueue, `let ok = take("bucket", 1); not ok ? continue() : continue()`)}, `nothing depends on take("bucket", 1): the policy continues in both cases`},
		{"a take for a bucket that is read", []policy.Spec{on(stubs.Exit, `take("bucket", 1) ? continue() : continue()`), on(stubs.Enqueue, `state.bucket < 1 ? throw("x") : continue()`)}, ""},
		{"a take for another policy", []policy.Spec{of(gold, on(stubs.Enqueue, `take("bucket", 1) ? continue() : continue()`)), on(stubs.Enqueue, `take("bucket", 1) ? continue() : throw("x")`)}, ""},
		{"two units of constants", []policy.Spec{rank(`rank(-arriving.priority)`), of(gold, rank(`queue.length > 9 ? throw("x") : rank(duration("1s"))`))}, `rank(duration("1s")) ranks tasks by nanoseconds, and the policy "p0" by plain numbers: the queue compares the bare numbers, and 1ms is 1000000 there`},
		{"two units in one policy", []policy.Spec{rank(`arriving.labels.retry == "yes" ? rank(duration("1s")) : rank(-arriving.priority)`)}, `-arriving.priority ranks tasks by plain numbers, and other ranks of the policy are by nanoseconds: the queue compares the bare numbers, and 1ms is 1000000 there`},
		{"a plain number behind durations", []policy.Spec{rank(`arriving.labels.retry == "yes" ? rank(-1) : rank(arriving.deadline)`)}, ""},
		{"two units", []policy.Spec{rank(`rank(arriving.deadline)`), of(gold, rank(`rank(-arriving.priority)`))}, `rank(-arriving.priority) ranks tasks by plain numbers, and the policy "p0" by nanoseconds`},
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

// The hint of a moment that lacks the time of the clock.
func TestSpanForMoment(t *testing.T) {
	writes := policy.Spec{Name: "go", On: policy.OnCustom("go"), Match: policy.Match{Loops: []string{"default"}}, Expr: `set("d", duration("10m"))`}
	for cond, want := range map[string]string{
		`runtime.uptime < state.d`: `write set("d", runtime.uptime + duration("10m"))`,
		`queue.oldest > state.d`:   "let a policy set it back",
	} {
		all := flows(members(t, declared, writes, on(stubs.Enqueue, cond+` ? throw("x") : continue()`)))
		var e *ir.Error
		if len(all) != 1 || !errors.As(all[0].Err, &e) || e.Hint != want {
			t.Errorf("%s: %+v; want the hint %s", cond, all, want)
		}
	}
}

// One constant as the only key of a table, and time spans where the clock is.
func TestOneKeyAndMoments(t *testing.T) {
	states := maps.Clone(declared)
	states["b"], _ = policy.StateOf(policy.Keyed{First: policy.Bucket{Rate: 1, Burst: 5}, Keys: 500})
	take := on(stubs.Enqueue, `take("b", "x", 1) ? continue() : throw("x")`)
	open := on(stubs.Exit, `queue.length > 9 ? set("d", runtime.uptime + duration("1s")) : continue()`)
	read := on(stubs.Enqueue, `runtime.uptime < state.d ? throw("x") : continue()`)
	checkFlows(t, Declared{States: states}, []flowCase{
		{"one key", []policy.Spec{take}, `the only key of the state b is "x": it keeps 500 keys, and policies use one`},
		{"two keys", []policy.Spec{take, on(stubs.Enqueue, `take("b", "y", 1) ? continue() : throw("x")`)}, ""},
		{"a key and a name", []policy.Spec{take, on(stubs.Enqueue, `take("b", tenant.name, 1) ? continue() : throw("x")`)}, ""},
		{"a moment", []policy.Spec{open, read}, ""},
		{"a moment, and a span", []policy.Spec{open, on(stubs.Exit, `set("d", duration("10s"))`), read}, `the state d is compared with runtime.uptime, and set("d", duration("10s")) gives it a time span`},
		{"a moment, and a running time", []policy.Spec{open, on(stubs.Exit, `set("d", task.running)`), on(stubs.Enqueue, `runtime.uptime - state.d < duration("1s") ? throw("x") : continue()`)},
			`set("d", task.running) gives it a time span`},
		{"a moment that ends", []policy.Spec{open, on(stubs.Exit, `set("d", duration("0s"))`), read}, ""},
		{"a span of its own", []policy.Spec{on(stubs.Exit, `set("d", task.running)`), on(stubs.Enqueue, `queue.oldest > state.d ? throw("x") : continue()`)}, ""},
	})
}

// The hint about the key of an event does not ask for a stub that the event has not.
func TestHintOfEventKeys(t *testing.T) {
	write := on(stubs.Custom, `add("k", event.name, 1)`)
	write.On.Custom = "fail"
	got := Flows(members(t, declared, write, on(stubs.Enqueue, `state.k[arriving.labels.user] > 3 ? throw("x") : continue()`)), Declared{States: declared})
	var text string
	for _, r := range got {
		text += r.Err.Error()
	}
	if !strings.Contains(text, "rt.Notify(user, 1)") || strings.Contains(text, "use the same stub") {
		t.Error(text)
	}
}

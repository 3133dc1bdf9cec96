package cocoon

import (
	"context"
	"testing"
	"time"
)

// A minute after the first task the log says which policies can take no slot from a task, because
// no task is preemptible, or none is safe.
func TestPoliciesWithoutAnEffectAreLogged(t *testing.T) {
	const idle1, idle2 = "policy \\\"turns\\\": switch() suspends no task: none of the tasks that have come is ", "policy \\\"demote\\\": background() takes no slot from a task before its block or its end: none of the tasks that have come is "
	for _, c := range []struct {
		document string
		want     map[string]int
	}{
		{"", map[string]int{idle1 + "preemptible": 1, idle2 + "preemptible": 1}},
		{"tasks: {a: preemptible}", map[string]int{idle1 + "safe": 1, idle2 + "safe": 1}},
		{"tasks: {a: preemptible, b: safe}", nil},
		{"tasks: {a: both}", nil},
		{"tasks: {later: both}", nil},
		{`tasks: {"l*": both}`, nil},
	} {
		var log journal
		rt := start(t, Config{Slots: 1, Logger: log.logger()})
		load(t, rt, "policies: [{name: turns, every: 10ms, expr: 'task.slice > duration(\"1s\") ? switch() : continue()'}, {name: demote, every: 10ms, expr: 'task.running > duration(\"1s\") ? background() : continue()'}, "+
			"{name: of-b, every: 10ms, match: {tasks: [b]}, expr: 'task.slice > duration(\"1s\") ? switch() : continue()'}, {name: asks, on: enqueue, expr: 'arriving.labels.user == task.labels.user and queue.length > 3 ? throw(\"x\") : continue()'}, {name: arrives, on: enqueue, expr: 'arriving.priority < 0 ? background() : continue()'}]")
		if c.document != "" {
			load(t, rt, c.document)
		}
		must(t, rt.Run(background, "a", idle))
		rt.tellUnmet()
		rt.tellUnmet() // says nothing again
		rt.log.flush()
		for _, text := range []string{idle1 + "preemptible", idle1 + "safe", idle2 + "preemptible", idle2 + "safe"} {
			if n := log.count(text); n != c.want[text] {
				t.Errorf("%s: %d lines with %s:\n%s", c.document, n, text, &log)
			}
		}
		if asks := log.count("policy \\\"asks\\\": on enqueue task.* is 0 or empty, because the policy sees running tasks that may be suspended: none of the tasks that have come is preemptible"); asks != c.want[idle1+"preemptible"] {
			t.Errorf("%s: %d lines\n%s", c.document, asks, &log)
		}
		if log.count("policy=of-b") != 0 || log.count("policy \\\"arrives\\\": switch") != 0 {
			t.Errorf("%s:\n%s", c.document, &log)
		}
	}
}

// A minute after the first task the log says which policies do nothing without deadlines, if no
// task has had one.
func TestPoliciesWithoutDeadlinesAreLogged(t *testing.T) {
	const about = "the policy is about deadlines, and none of the tasks that have come has one"
	soon, cancel := context.WithTimeout(background, time.Hour)
	defer cancel()
	for _, c := range []struct {
		policy string
		tasks  []context.Context
		want   int
	}{
		{"every: 1ms, expr: 'task.deadline < duration(\"0s\") ? throw(\"x\") : continue()'", []context.Context{background}, 1},
		{"on: start, expr: 'task.waited + class.running_mean > task.deadline ? throw(\"x\") : continue()'", []context.Context{background}, 1},
		{"on: enqueue, expr: 'queue.cost / loop.slots > arriving.deadline ? throw(\"x\") : continue()'", []context.Context{background}, 1},
		{"on: enqueue, expr: 'rank(runtime.uptime + arriving.deadline)'", []context.Context{background}, 1},
		{"on: enqueue, expr: 'rank(runtime.uptime + arriving.deadline)'", []context.Context{background, soon}, 0},
		{"on: enqueue, expr: 'arriving.priority > 0 ? rank(-arriving.deadline) : rank(duration(\"1s\"))'", []context.Context{background}, 0},
		{"every: 1ms, expr: 'task.cancelled or task.deadline < duration(\"0s\") ? throw(\"x\") : continue()'", []context.Context{background}, 0},
		{"every: 1ms, expr: 'task.deadline > duration(\"24h\") and task.running > duration(\"1h\") ? throw(\"x\") : continue()'", []context.Context{background}, 0},
		{"every: 1ms, mode: off, expr: 'task.deadline < duration(\"0s\") ? throw(\"x\") : continue()'", []context.Context{background}, 0},
		{"every: 1ms, match: {tasks: [b]}, expr: 'task.deadline < duration(\"0s\") ? throw(\"x\") : continue()'", []context.Context{background}, 0},
	} {
		var log journal
		rt := start(t, Config{Slots: 1, Logger: log.logger()})
		load(t, rt, "policies: [{name: dated, "+c.policy+"}]")
		for _, ctx := range c.tasks {
			must(t, rt.Run(ctx, "a", idle))
		}
		rt.tellUnmet()
		rt.tellUnmet() // says nothing again
		rt.log.flush()
		if n := log.count(about); n != c.want {
			t.Errorf("%s: %d lines, want %d:\n%s", c.policy, n, c.want, &log)
		}
	}
}

// A minute after the first task the log says which policies do nothing for the priorities that tasks
// can have. Other tests give priorities, too, so these policies are about a very low one.
func TestPoliciesWithoutPrioritiesAreLogged(t *testing.T) {
	const shed, none = "on: enqueue, expr: 'arriving.priority < -2000000000 and queue.length > 9 ? throw(\"x\") : continue()'", "tasks: {b: safe}\n"
	for _, c := range []struct {
		policy, tasks string
		want          int
	}{
		{shed, none, 1},
		{shed, "tasks: {b: {priority: -2000000001}}\n", 0},
		{shed, "tasks: {b*: {priority: -2000000001}}\n", 0},
		{"mode: off, " + shed, none, 0},
		{"match: {tasks: [b]}, " + shed, none, 0}, // no such task has come
		{"on: enqueue, expr: 'arriving.priority < -2000000000 or queue.length > 9 ? throw(\"x\") : continue()'", none, 0},
		{"every: 1ms, expr: 'task.priority < -2000000000 and task.running > duration(\"1s\") ? throw(\"x\") : continue()'", none, 1},
		{"on: enqueue, expr: 'arriving.priority == -2000000000 ? rank(1) : rank(0)'", none, 0},
	} {
		var log journal
		rt := start(t, Config{Slots: 1, Logger: log.logger()})
		load(t, rt, c.tasks+"policies: [{name: low, "+c.policy+"}]")
		must(t, rt.Run(background, "a", idle))
		rt.tellUnmet()
		rt.tellUnmet() // says nothing again
		rt.log.flush()
		n := log.count("the policy is about priorities, and no task has one") + log.count("the policy is about priorities other than those of the tasks")
		if n != c.want {
			t.Errorf("%s: %d lines, want %d:\n%s", c.policy, n, c.want, &log)
		}
	}
}

func TestBoundsOfPriorities(t *testing.T) {
	var b bounds
	for _, n := range []int32{3, -5, 2, 7, -1} {
		b.note(n)
	}
	if b.least.Load() != -5 || b.most.Load() != 7 {
		t.Errorf("got %d to %d", b.least.Load(), b.most.Load())
	}
}

package policytest

import (
	"strings"
	"testing"
)

// A given label that no policy reads is most likely misspelt.
func TestGivenLabelsAreRead(t *testing.T) {
	const document = `version: 1
tenants: {label: tenant}
policies:
  - {name: p, on: enqueue, expr: 'arriving.labels.tier == "gold" or hash(arriving.labels.user) % 2 == 0 ? continue() : throw("x")'}
`
	for given, want := range map[string]string{
		`arriving.labels: {teir: gold}`:    `p_test.yaml:6:57: no policy reads arriving.labels["teir"]; the policies read arriving.labels["tier"], arriving.labels["user"]`,
		`arriving.labels: {tier: gold}`:    "",
		`task.labels: {tier: gold}`:        "",
		`arriving.labels: {user: x}`:       "",
		`arriving.labels: {tenant: x}`:     "",
		`task.sections: {json.decode: 1s}`: "",
	} {
		tests := "tests:\n  - name: it\n    events:\n      - {at: 0s, on: enqueue, given: {" + given + "}, expect: {asked: [p]}}\n"
		if got := told(t, document, tests); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %s; want %q", given, got, want)
		}
	}
}

// A value that the event cannot have is refused; a value that is not given is the least one that
// the event has.
func TestGivenOnEvents(t *testing.T) {
	const document = `version: 1
policies:
  - {name: arrives, on: enqueue, expr: 'class.tasks == 0 ? throw("none") : arriving.running > duration("1s") ? throw("ran") : continue()'}
  - {name: starts, on: start, expr: 'task.running > duration("1s") or "a" in task.stack ? throw("late") : continue()'}
  - {name: exits, on: exit, state: {n: 0}, expr: 'task.section == "" and task.running > duration("1s") ? add("n", 1) : set("n", 9)'}
`
	for _, c := range []struct{ name, events, want string }{
		{"the least", `{at: 0s, on: enqueue, expect: continue()}`, ""},
		{"too few", `{at: 0s, on: enqueue, given: {class.tasks: 0}, expect: throw("none")}`,
			`4:68: policy "arrives" reads class.tasks on enqueue, where it is 1 or more: the task itself counts; and this is 0`},
		{"a task that runs", `{at: 0s, on: enqueue, given: {arriving.running: 2s}, expect: throw("ran")}`, `policy "arrives" reads arriving.running on enqueue, where it is 0: a task that arrives has not run yet; and this is 2s`},
		{"a task that has not run", `{at: 0s, on: start, given: {task.running: 2s}, expect: throw("late")}`, `policy "starts" reads task.running on start, where it is 0: a task has not run yet; and this is 2s`},
		{"a section", `{at: 0s, on: start, given: {task.stack: [a]}, expect: throw("late")}`, `policy "starts" reads task.stack on start`},
		{"no section", `{at: 0s, on: start, given: {task.stack: []}, expect: continue()}`, ""},
		{"of an earlier event", `{at: 0s, on: exit, given: {task.running: 2s}, expect: {states: {n: 1}}}, {at: 1s, on: enqueue, expect: continue()}`, ""},
		{"a section at the end", `{at: 0s, on: exit, given: {task.section: a}, expect: {states: {n: 9}}}`, `policy "exits" reads task.section on exit, where it is empty: a task that ends has no open section; and this is a`},
	} {
		t.Run(c.name, func(t *testing.T) {
			says(t, c.name, told(t, document, "tests:\n  - {name: it, events: ["+c.events+"]}\n"), c.want)
		})
	}
}

// A test that gives what no policy reads, or asks for what no policy says, would pass for another
// reason than its author means.
func TestMeaninglessTests(t *testing.T) {
	const document = `version: 1
policies:
  - {name: shed, on: enqueue, match: {kinds: [atomic]}, expr: 'arriving.priority < 0 and queue.length > 10 ? throw("busy", duration("2s")) : continue()'}
  - {name: rain, event: rain, expr: 'event.value > 3 ? throw("wet") : continue()'}
`
	for _, c := range []struct{ name, event, want string }{
		{"another task's priority", `{at: 0s, on: enqueue, given: {task.priority: -1, queue.length: 11}, expect: continue()}`,
			`no policy reads task.priority; the policies read arriving.priority`},
		{"another figure", `{at: 0s, on: enqueue, given: {queue.suspended: 11}, expect: continue()}`,
			`4:72: no policy reads queue.suspended, so it changes nothing; leave it out, or give what a policy reads`},
		{"what the match is about", `{at: 0s, on: enqueue, given: {arriving.kind: safe, loop.name: bulk, runtime.uptime: 1s}, expect: {asked: []}}`, ""},
		{"another event", `{at: 0s, event: ruin, given: {event.value: 4}, expect: {asked: []}}`, `no policy is evaluated on the event "ruin"; the policies have [rain]`},
		{"another reason", `{at: 0s, event: rain, expect: {counts: {throw("wett"): 0}}}`, `no policy says throw("wett")`},
		{"a reason", `{at: 0s, event: rain, expect: {counts: {throw("wet"): 0, 'throw("busy", 2s)': 0}}}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			says(t, c.name, told(t, document, "tests:\n  - {name: it, events: ["+c.event+"]}\n"), c.want)
		})
	}
}

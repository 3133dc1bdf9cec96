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
		`task.labels: {tier: gold}`:        `p_test.yaml:6:53: no policy that is evaluated on enqueue reads task.labels["tier"]; give arriving.labels["tier"]`,
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

// The label of the tenants is named if it is the only one.
func TestGivenLabelOfTenants(t *testing.T) {
	const document = `version: 1
tenants: {label: customer}
policies:
  - {name: p, on: enqueue, expr: 'tenant.tasks > 9 and runtime.heap > bytes("1GiB") ? throw("x") : continue()'}
`
	for event, want := range map[string]string{
		`given: {arriving.labels: {custmer: a}}, expect: {asked: [p]}`: `no policy reads arriving.labels["custmer"], nor any other label, and the label that names the tenants is "customer"`,
		`given: {runtime.heap: 6.5GiB}, expect: throw("x")`:            "runtime.heap = 6656MiB",
	} {
		says(t, event, told(t, document, "tests:\n  - {name: it, events: [{at: 0s, on: enqueue, "+event+"}]}\n"), want)
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
		{"what the match is about", `{at: 0s, on: enqueue, given: {arriving.kind: safe, loop.name: bulk, runtime.uptime: 1s}, expect: {asked: []}}, {at: 1s, on: enqueue, given: {arriving.kind: atomic}, expect: continue()}`, ""},
		{"another event", `{at: 0s, event: ruin, given: {event.value: 4}, expect: {asked: []}}`, `no policy is evaluated on the event "ruin"; the policies have [rain]`},
		{"another reason", `{at: 0s, event: rain, expect: {counts: {throw("wett"): 0}}}`, `no policy says throw("wett")`},
		{"a reason", `{at: 0s, event: rain, expect: {counts: {throw("wet"): 0, 'throw("busy", 2s)': 0}}}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			says(t, c.name, told(t, document, "tests:\n  - {name: it, events: ["+c.event+"]}\n"), c.want)
		})
	}
}

// The advice about a value that no policy reads on the event fits the policies: one that leaves out
// a way in which tasks end, and one about no task.
func TestAdviceOnGivenValues(t *testing.T) {
	const document = `version: 1
states: {n: 0}
policies:
  - {name: up, on: enqueue, expr: 'add("n", int(arriving.labels.mib, 1))'}
  - {name: down, on: exit, expr: 'add("n", -int(task.labels.mib, 1))'}
  - {name: fails, event: failed, expr: 'set("n", 1)'}
`
	for event, want := range map[string]string{
		`{at: 1s, on: leave, given: {task.labels: {mib: "5"}}, expect: {states: {n: 0}}}`: `no policy that is evaluated on leave reads task.labels["mib"]; a task may end in either way, so write on: [exit, leave] in the policy that is evaluated on exit alone`,
		`{at: 1s, event: failed, given: {arriving.name: a}, expect: {states: {n: 1}}}`:    "no policy that is evaluated on custom reads arriving.name; leave it out",
		`{at: 1s, event: failed, given: {task.name: a}, expect: {states: {n: 1}}}`:        "no policy that is evaluated on custom reads task.name; leave it out",
		`{at: 1s, on: exit, given: {arriving.name: a}, expect: {states: {n: -1}}}`:        "no policy that is evaluated on exit reads arriving.name; give task.name",
		`{at: 1s, on: exit, given: {task.labels: {mib: "5"}}, expect: {states: {n: -5}}}`: "",
	} {
		says(t, event, told(t, document, "tests:\n  - {name: it, events: ["+event+"]}\n"), want)
	}
}

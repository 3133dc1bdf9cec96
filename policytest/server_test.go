package policytest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runs runs a file of tests of a document p.yaml, in a new folder.
func runs(t *testing.T, document, tests string) (r *Report, dir string, err error) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"p.yaml": document, "p_test.yaml": "version: 1\ndocuments: [p.yaml]\n" + tests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err = File(filepath.Join(dir, "p_test.yaml"), Options{})
	return r, dir, err
}

// told runs a file of tests of a document p.yaml, and returns the error or the failures.
func told(t *testing.T, document, tests string) string {
	t.Helper()
	r, dir, err := runs(t, document, tests)
	if err != nil {
		return err.Error()
	}
	said := ""
	for _, result := range r.Results {
		for _, f := range result.Failures {
			said += f.String() + "\n"
		}
	}
	return strings.ReplaceAll(said, dir+string(filepath.Separator), "")
}

// says compares what told returns with a part of it that is wanted; "" for nothing.
func says(t *testing.T, name, said, want string) {
	t.Helper()
	if !strings.Contains(said, want) || want == "" && said != "" {
		t.Errorf("%s: got\n%s\nwant %q", name, said, want)
	}
}

// A state of each loop is that of the loop on which the event happens; others are shared.
func TestLoops(t *testing.T) {
	const document = `version: 1
states: {all: 0}
policies:
  - name: count
    on: start
    state: {own: {first: 1, per: loop}, together: 1, keys: {first: 0, keys: 9, per: loop}, full: {rate: 1, burst: 5, per: loop}}
    expr: |
      add("all", 1); add("together", 1); add("own", 1); add("keys", task.name, 1);
      take("full", 1) and rate("own", duration("1s")) < 1000 ? continue() : throw("empty")
  - name: jobs
    on: exit
    match: {loops: [jobs]}
    expr: 'loop.name == "jobs" ? set("all", 100) : continue()'
  - {name: default, on: exit, match: {loops: [default]}, expr: 'set("all", 200)'}
`
	const test = "tests:\n  - name: it\n    given: {task.name: a}\n    events:\n"
	for _, c := range []struct{ name, tests, want string }{
		{"own and shared states", test + `      - {at: 0s, on: start, times: 2, expect: {states: {all: 2, together: 3, own: 3, keys: {a: 2}, full: 3}}}
      - {at: 0s, on: start, given: {loop.name: jobs}, expect: {states: {all: 3, together: 4, own: 2, keys: {a: 1}, full: 4}}}
      - {at: 0s, on: start, expect: {states: {all: 4, own: 3}}}
      - {at: 0s, on: start, given: {loop.name: default, state.own: 50}, expect: {states: {all: 5, own: 51}}}
      - {at: 0s, on: start, given: {loop.name: jobs}, expect: {states: {all: 6, own: 4}}}
`, ""},
		{"given before the first event", strings.Replace(test, "task.name: a", "task.name: a, state.own: 50", 1) + `      - {at: 0s, on: start, expect: {states: {own: 51}}}
      - {at: 0s, on: start, given: {loop.name: jobs}, expect: {states: {own: 51}}}
`, ""},
		{"the loop that is called default", test + "      - {at: 0s, on: exit, expect: {asked: [default]}}\n      - {at: 0s, on: exit, given: {loop.name: jobs}, expect: {asked: [jobs], states: {all: 100}}}\n", ""},
		{"where it failed", test + "      - {at: 0s, on: exit, given: {loop.name: jobs}, expect: switch()}\n", `at 0s, on exit of loop "jobs": the verdict is`},
	} {
		says(t, c.name, told(t, document, c.tests), c.want)
	}
}

// A policy is switched off after errors in a row, as on a server.
func TestSwitchedOff(t *testing.T) {
	const document = `version: 1
states: {n: 9223372036854775807}
policies:
  - name: errs
    on: start
    expr: 'task.priority > 0 ? continue() : add("n", 1)'
  - {name: leaves, on: exit, expr: cancel()}
`
	const test = "tests:\n  - name: it\n    events:\n"
	for _, c := range []struct{ name, tests, want string }{
		{"after 8", test + `      - {at: 0s, on: start, times: 7, expect: {error: 'p.yaml:6:45: policy "errs": integer overflow', off: []}}
      - {at: 1s, on: start, given: {task.priority: 1}, expect: {off: []}}
      - {at: 1s, on: start, given: {task.priority: 0}, times: 8, expect: {error: overflow, off: [errs]}}
      - {at: 2s, on: start, given: {task.priority: 1}, expect: {asked: [], off: [errs]}}
      - {at: 3s, on: exit, expect: {off: [leaves, errs]}}
`, ""},
		{"another number", "max_failures: 2\n" + test + "      - {at: 0s, on: start, times: 2, expect: {error: overflow, off: [errs]}}\n", ""},
		{"why", test + "      - {at: 0s, on: start, times: 9, expect: {error: overflow}}\n", "time 9 of 9: no policy is asked; if none should be, expect asked: []\n  policy \"errs\" is not asked: it was switched off after 8 errors in a row"},
		{"not off", test + "      - {at: 0s, on: start, expect: {error: overflow, off: [errs]}}\n", "the policies that are off are []; want [errs]"},
		{"no number", "max_failures: 0\n" + test + "      - {at: 0s, on: start, expect: continue()}\n", "max_failures is 1 to 1000000, and this is 0"},
	} {
		says(t, c.name, told(t, document, c.tests), c.want)
	}
}

// Entries of a document's tasks apply to the tasks whose names a test gives.
func TestDeclaredTasks(t *testing.T) {
	const document = `version: 1
tenants: {label: tenant}
tasks:
  GET /admin/*: {kind: preemptible, priority: 5, labels: {tenant: ops, tier: gold}, cost: 3ms}
  GET /admin/ping: safe
  GET /wait: waits
  Backup: {background: true}
  default: atomic
policies:
  - name: arrives
    on: enqueue
    match: {kinds: [preemptible, both]}
    expr: 'arriving.priority == 5 and arriving.labels.tier == "gold" and arriving.cost == duration("3ms") and tenant.name == "ops" ? throw("declared") : continue()'
  - name: runs
    on: start
    expr: 'task.kind == "both" ? switch() : task.labels.tenant == "" and tenant.name == "" ? (task.kind == "safe" ? throw("safe") : throw("other")) : continue()'
`
	const test = "tests:\n  - name: it\n    events:\n"
	for _, c := range []struct{ name, tests, want string }{
		{"a pattern", test + "      - {at: 0s, on: enqueue, given: {arriving.name: GET /admin/x}, expect: throw(\"declared\")}\n", ""},
		{"what the test gives counts more", test + `      - {at: 0s, on: enqueue, given: {arriving.name: GET /admin/x, arriving.priority: 4}, expect: continue()}
      - {at: 0s, on: enqueue, given: {arriving.priority: 5, arriving.labels: {tier: tin}}, expect: continue()}
      - {at: 0s, on: enqueue, given: {arriving.labels: {tier: "", tenant: other}}, expect: continue()}
      - {at: 0s, on: enqueue, given: {arriving.labels: {tenant: ""}}, expect: throw("declared")}
      - {at: 0s, on: enqueue, given: {tenant.name: other}, expect: continue()}
      - {at: 0s, on: enqueue, given: {arriving.kind: safe}, expect: {asked: []}}
`, ""},
		{"a name before a pattern", test + "      - {at: 0s, on: enqueue, given: {arriving.name: GET /admin/ping}, expect: {asked: []}}\n      - {at: 0s, on: start, given: {task.name: GET /admin/ping}, expect: throw(\"safe\")}\n", ""},
		{"no task", test + "      - {at: 0s, on: start, expect: throw(\"other\")}\n", ""},
		{"waits", test + "      - {at: 0s, on: start, given: {task.name: GET /wait}, expect: throw(\"other\")}\n", ""},
		{"background", test + "      - {at: 0s, on: enqueue, given: {arriving.name: Backup}, expect: {asked: [background], effects: [background()]}}\n", ""},
		{"registered as safe", "safe: [GET /admin/x, Alarm]\n" + test + "      - {at: 0s, on: start, given: {task.name: GET /admin/x}, expect: switch()}\n      - {at: 0s, on: start, given: {task.name: Alarm}, expect: throw(\"safe\")}\n", ""},
		{"what was seen", test + "      - {at: 0s, on: enqueue, given: {arriving.name: GET /admin/x}, expect: continue()}\n",
			"arriving.priority = 5 (declared in tasks)\n    arriving.labels[\"tier\"] = \"gold\" (declared in tasks)\n    arriving.cost = 3ms (declared in tasks)\n    tenant.name = \"ops\" (declared in tasks)"},
		{"the tenant", test + "      - {at: 0s, on: enqueue, given: {arriving.name: GET /admin/x, arriving.labels: {tenant: a}}, expect: switch()}\n", `tenant.name = "a" (from the label)`},
	} {
		says(t, c.name, told(t, document, c.tests), c.want)
	}
	says(t, "atomic in the document", told(t, strings.Replace(document, "{background: true}", "{background: true, kind: atomic}", 1), "safe: [Backup]\n"+test+"      - {at: 0s, on: start, expect: continue()}\n"),
		`p.yaml:7:3: task "Backup": the document says atomic, and the code registers the function as safe`)
}

// The name and the value of a custom event are those that Notify may have.
func TestCustomEvents(t *testing.T) {
	const document = `version: 1
states: {x: 0.5}
policies:
  - {name: value, event: value, expr: 'event.value > 1e300 ? throw("huge") : event.value != event.value ? throw("none") : continue()'}
  - {name: name, on: custom, expr: 'event.name in pattern("deploy-*") ? throw("deployed") : continue()'}
  - {name: state, event: state, expr: 'set("x", event.value)'}
`
	const test = "tests:\n  - name: it\n    events:\n      - "
	for _, c := range []struct{ name, event, want string }{
		{"huge", `{at: 0s, event: value, given: {event.value: 1e301}, expect: throw("huge")}`, ""},
		{"infinite", `{at: 0s, event: value, given: {event.value: .inf}, expect: throw("huge")}`, ""},
		{"a long number", `{at: 0s, event: value, given: {event.value: -99999999999999999999}, expect: continue()}`, ""},
		{"NaN", `{at: 0s, event: value, given: {event.value: .nan}, expect: throw("none")}`, ""},
		{"the name", `{at: 0s, event: deploy-7, expect: throw("deployed")}`, ""},
		{"another name", `{at: 0s, event: release, expect: {verdict: continue(), asked: [name]}}`, ""},
		{"the name is given", `{at: 0s, event: release, given: {event.name: deploy-7}, expect: continue()}`, "event.name is the name of the event; write event: NAME"},
		{"no name", `{at: 0s, on: custom, expect: continue()}`, "a custom event has a name; write event: NAME"},
		{"a state that is infinite", `{at: 0s, event: state, given: {event.value: -.inf}, expect: {states: {x: -.inf}}}`, ""},
		{"a state that is given an infinity", `{at: 0s, event: value, given: {state.x: .inf}, expect: {states: {x: .inf}}}`, ""},
		{"a state becomes NaN", `{at: 0s, event: state, given: {event.value: .nan}, expect: {error: not a number, states: {x: 0.5}}}`, ""},
		{"a state is given NaN", `{at: 0s, event: state, given: {state.x: .nan}, expect: continue()}`, "p_test.yaml:6:49: no state is NaN, because giving it that value is an error of the evaluation; want a number"},
		{"a state is NaN", `{at: 0s, event: state, expect: {states: {x: .nan}}}`, "no state is NaN"},
		{"a share is NaN", `{at: 0s, event: state, given: {loop.utilization: .nan}, expect: continue()}`, "float .nan stands where a number is wanted"},
	} {
		says(t, c.name, told(t, document, test+c.event+"\n"), c.want)
	}
}

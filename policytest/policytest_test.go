package policytest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	Run(t, "testdata/shed_test.yaml")
	Run(t, "testdata/figures_test.yaml")
}

// A figure that no policy reads so, or that is of another type, is an error.
func TestGivenFiguresAreRead(t *testing.T) {
	const events = "    events: [{at: 0s, on: enqueue, expect: continue()}]\n"
	for given, want := range map[string]string{
		`queue.wait: {0.9: 1s}`:                `no policy reads queue.wait(0.9); write queue.wait: {0.99: ...}, as one reads it`,
		`class.service: {0.5: 1s}`:             `p_test.yaml:5:29: no policy reads class.service(0.5); write class.service: {"0.5, 30s": ...}, as one reads it`,
		`queue.wait: {"0.99, 30s": 1s}`:        `no policy reads queue.wait(0.99, duration("30s"))`,
		`rate: {"served, 2m": 1}`:              `no policy reads rate("served", duration("2m0s")); write rate: {"served, 1m0s": ...}, as one reads it`,
		`average: {"last, 10s": 1.5}`:          `average("last", duration("10s")) is of type duration, and 1.5 is none`,
		`queue.wait: {0.99: 1ms}`:              "",
		`class.wait: {0.5: 1s}, class.busy: 3`: `no policy reads class.wait(0.5), nor any class.wait`,
	} {
		document, err := os.ReadFile("testdata/figures.yaml")
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := runs(t, string(document), "tests:\n  - name: it\n    given: {"+given+"}\n"+events)
		if got := fmt.Sprintf("%+v %v", r, err); want == "" && (err != nil || r.Failed()) || !strings.Contains(got, want) {
			t.Errorf("%s: %s; want %q", given, got, want)
		}
	}
}

// documentText is what the tests of this file test.
const documentText = `version: 1
states: {overloaded: false, ratio: 0.5}
tasks: {backup: {background: true}}
policies:
  - name: shed
    on: [enqueue, start]
    state: {n: 0}
    expr: |
      if queue.length > 100 { set("n", state.n + 1); throw("busy") }
      else if loop.utilization > 0.9 { set("overloaded", true); continue() }
      else { continue() }
  - name: turns
    every: 1ms
    match: {kinds: [both]}
    state: {n: 7}
    expr: 'task.running > duration("1ms") and "regex" in task.stack ? switch() : (interval(duration("5ms")); cancel())'
  - name: deployed
    event: deploy
    expr: 'event.value < 0 ? throw("less", duration("1s") * -event.value) : set("ratio", event.value / 3)'
  - name: sum
    on: exit
    expr: 'task.priority * 9223372036854775807 > 3 ? set("overloaded", true) : continue()'
`

// report runs tests of the document. events are what stands behind "events:" of one test.
func report(t *testing.T, head, events string) (*Report, error) {
	t.Helper()
	r, _, err := runs(t, documentText, head+"tests:\n  - name: it\n    events:\n"+events)
	return r, err
}

// TestEvents gives one event or more and looks at what is not as expected: parts of each failure,
// none for a test that passes.
func TestEvents(t *testing.T) {
	for _, c := range []struct{ name, events, want string }{
		{"a throw", `- {at: 0s, on: enqueue, given: {queue.length: 101}, expect: throw("busy")}`, ""},
		{"another reason", `- {at: 0s, on: enqueue, given: {queue.length: 101}, expect: throw("late")}`, `p_test.yaml:6:9: it: at 0s, on enqueue: the verdict is throw("busy"); want throw("late")`},
		{"no policy decides", `- {at: 0s, on: enqueue, expect: {policy: shed}}`, `every policy says continue(); want a verdict of policy "shed"`},
		{"what was seen", `- {at: 0s, on: enqueue, expect: switch()}`, "want switch()\n  policy \"shed\" says continue()\n    queue.length = 0 (not given)\n    state.n = 0\n    loop.utilization = 0 (not given)"},
		{"a float", `- {at: 0s, on: start, given: {loop.utilization: 0.95}, expect: {effects: ['set("overloaded", true)'], states: {overloaded: true}}}`, ""},
		{"an effect too many", `- {at: 0s, on: start, given: {loop.utilization: 0.95}, expect: {effects: []}}`, `the effects are [set("overloaded", true)]; want []`},
		{"a switch", `- {at: 0s, on: tick, given: {task.kind: both, task.running: 2ms, task.stack: [a, regex]}, expect: switch()}`, ""},
		{"kinds that do not match", `- {at: 0s, on: tick, given: {task.running: 2ms}, expect: switch()}`, `no policy is asked; if none should be, expect asked: []` + "\n" + `  policy "background" is not asked: it is evaluated on enqueue`},
		{"why not", `- {at: 0s, on: tick, expect: continue()}`, `policy "turns" is not asked: it matches both alone, and task.kind is "atomic"`},
		{"nobody", `- {at: 0s, on: tick, expect: {asked: []}}
      - {at: 1s, on: enqueue, expect: continue()}`, ""},
		{"interval and cancel", `- {at: 0s, on: tick, given: {task.kind: both}, expect: {effects: [interval(5ms), cancel()]}}
      - {at: 1s, on: tick, expect: {asked: []}}`, ""},
		{"a custom event", `- {at: 0s, event: deploy, given: {event.value: 1}, expect: {effects: ['set("ratio", 0.333333333333)'], states: {ratio: 0.333333333333}}}`, ""},
		{"when to retry", `- {at: 0s, event: deploy, given: {event.value: -2}, expect: 'throw("less", 2s)'}`, ""},
		{"when to retry, as a policy writes it", `- {at: 0s, event: deploy, given: {event.value: -2}, expect: {counts: {'throw("less", duration("2000ms"))': 1}}}`, ""},
		{"another time", `- {at: 0s, event: deploy, given: {event.value: -2}, expect: 'throw("less")'}`, `the verdict is throw("less", 2s); want throw("less")`},
		{"the background", `- {at: 0s, on: enqueue, given: {arriving.name: backup}, expect: {asked: [background, shed], effects: [background()]}}`, ""},
		{"an error", `- {at: 0s, on: exit, given: {task.priority: 2}, expect: continue()}`, `p.yaml:22:12: policy "sum": integer overflow`},
		{"an expected error", `- {at: 0s, on: exit, given: {task.priority: 2}, expect: {error: integer overflow}}`, ""},
		{"no error", `- {at: 0s, on: exit, expect: {error: integer overflow}}`, `no evaluation errs with "integer overflow"`},
		{"private states", `- {at: 0s, on: enqueue, given: {queue.length: 101, state.shed.n: 4}, times: 3, every: 1ms, expect: {states: {shed.n: 7, turns.n: 7}}}`, ""},
		{"which time", `- {at: 1s, on: enqueue, given: {queue.length: 101, state.shed.n: 4}, times: 3, every: 1ms, expect: {effects: ['set("n", 5)']}}`, `at 1.001s, on enqueue, time 2 of 3: the effects are [set("n", 6)]`},
		{"counts", `- {at: 0s, on: enqueue, times: 3, expect: {counts: {continue(): 2}}}`, `continue() is said 3 times; want 2`},
		{"a state's value", `- {at: 0s, on: enqueue, expect: {states: {ratio: 0.25}}}`, `the state ratio is 0.5; want 0.25`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := report(t, "", "      "+c.events+"\n")
			if err != nil {
				t.Fatal(err)
			}
			wantFailures(t, r, c.want)
		})
	}
}

// TestRefuses reads tests that are wrong themselves: nothing of them may pass in silence.
func TestRefuses(t *testing.T) {
	for _, c := range []struct{ name, head, events, want string }{
		{"a stub", "", `- {at: 0s, on: start, given: {queue.lenght: 1}, expect: continue()}`, "6:37: there is no state stub queue.lenght; did you mean queue.length?"},
		{"another custom event", "", `- {at: 0s, event: other, expect: continue()}`, `6:9: no policy is evaluated on the event "other"; the policies have [deploy]`},
		{"a group", "", `- {at: 0s, on: start, given: {length: 1}, expect: continue()}`, "write it as a policy does, as in queue.length or state.NAME"},
		{"a key", "", `- {at: 0s, on: start, given: {task.labels.tier: gold}, expect: continue()}`, "write task.labels: {tier: ...}"},
		{"a range", "", `- {at: 0s, on: start, given: {queue.length: -1}, expect: continue()}`, "6:51: queue.length is 0 to 1099511627776, and this is -1"},
		{"a share", "", `- {at: 0s, on: start, given: {loop.utilization: 1.5}, expect: continue()}`, "loop.utilization is 0 to 1, and this is 1.5"},
		{"no number", "", `- {at: 0s, on: start, given: {loop.utilization: .nan}, expect: continue()}`, "stands where a number is wanted"},
		{"a type", "", `- {at: 0s, on: start, given: {task.running: 5}, expect: continue()}`, "int 5 stands where a duration is wanted"},
		{"a size", "", `- {at: 0s, on: start, given: {runtime.heap: 5m}, expect: continue()}`, "stands where a size is wanted; write it like 64MiB"},
		{"a kind", "", `- {at: 0s, on: start, given: {task.kind: fast}, expect: continue()}`, `there is no kind "fast"`},
		{"a state", "", `- {at: 0s, on: start, given: {state.m: 1}, expect: continue()}`, `6:37: there is no state "m", registered or private`},
		{"two states", "", `- {at: 0s, on: start, given: {state.n: 1}, expect: continue()}`, `several policies have a state "n"; write shed.n or turns.n`},
		{"a state's type", "", `- {at: 0s, on: start, expect: {states: {overloaded: 1}}}`, "the state overloaded is of type bool, and 1 is none"},
		{"a verdict", "", `- {at: 0s, on: start, expect: throw}`, `"throw" is not a verdict; want continue(), switch() or throw("reason")`},
		{"a comma in braces", "", `- {at: 0s, on: start, expect: throw("busy", 2s)}`, `6:37: the comma ends the text throw("busy", because it stands between braces or brackets; write 'throw("busy", 2s)', in quotes`},
		{"a comma in a key", "", `- {at: 0s, on: start, expect: {counts: {throw('busy', 2s): 3}}}`, `write 'throw(''busy'', 2s)', in quotes`},
		{"a comma in brackets", "", `- {at: 0s, on: start, expect: {effects: [add("spent", "gold", 2s), rank(1)]}}`, `write 'add("spent", "gold", 2s)', in quotes`},
		{"a comma in a reason", "", `- {at: 0s, on: start, expect: {verdict: throw("no, never"), policy: shed}}`, `write 'throw("no, never")', in quotes`},
		{"an effect", "", `- {at: 0s, on: start, expect: {effects: [sett(1)]}}`, `"sett(1)" is not an effect`},
		{"a key of expect", "", `- {at: 0s, on: start, expect: {verdikt: continue()}}`, `expect has no key "verdikt"; did you mean verdict?`},
		{"two events", "", `- {at: 0s, on: start, event: deploy, expect: continue()}`, "6:9: it has both on and event; say one of them"},
		{"an unknown policy", "", `- {at: 0s, on: start, expect: {policy: shedd}}`, `6:9: the documents have no policy "shedd"`},
		{"an unknown policy that observes", "", `- {at: 0s, on: start, expect: {observed: {policy: shedd}}}`, `the documents have no policy "shedd"`},
		{"an unknown policy that is asked", "", `- {at: 0s, on: start, expect: {asked: [shed, turn]}}`, `the documents have no policy "turn"`},
		{"an unknown policy that is off", "", `- {at: 0s, on: start, expect: {off: [turn]}}`, `the documents have no policy "turn"`},
		{"several events", "", `- {at: 0s, on: [start, exit], expect: continue()}`, `a list stands where a string is wanted`},
		{"an event", "", `- {at: 0s, on: arrive, expect: continue()}`, `there is no event "arrive"; want tick`},
		{"no event", "", `- {at: 0s, expect: continue()}`, "it is never told; say on: tick"},
		{"the order", "", "- {at: 5ms, on: start, times: 3, every: 1s, expect: continue()}\n      - {at: 1s, on: start}", "7:9: the event at 1s stands behind one at 2.005s"},
		{"every alone", "", `- {at: 0s, on: start, every: 1s, expect: continue()}`, "every needs times"},
		{"times", "", `- {at: 0s, on: start, times: 0, expect: continue()}`, "times is 1 to 1000000, and this is 0"},
		{"nothing expected", "", `- {at: 0s, on: start}`, "4:5: the test expects nothing"},
		{"no tests", "", ``, "events is nothing; want a list"},
		{"coverage", "coverage: 0.9\n", `- {at: 0s, on: start, expect: continue()}`, "write it like 90%"},
		{"a seed", "seed: 0\n", `- {at: 0s, on: start, expect: continue()}`, "a seed is 1 to 18446744073709551615, and this is 0"},
		{"no seed", "seed: [1]\n", `- {at: 0s, on: start, expect: continue()}`, "a seed is 1 to 18446744073709551615, and this is a list"},
		{"no document", "documents: [q.yaml]\n", ``, `has the key "documents" twice`},
		{"a state of the server's", "states: {overloaded: true}\n", `- {at: 0s, on: start, expect: continue()}`, `p.yaml:2:10: state "overloaded": it is declared already, by `},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := report(t, c.head, "      "+c.events+"\n")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("report %+v, error %v\nwant %q", r, err, c.want)
			}
		})
	}
}

func TestCoverage(t *testing.T) {
	r, err := report(t, "coverage: 80%\n", "      - {at: 0s, on: enqueue, given: {queue.length: 101}, expect: throw(\"busy\")}\n      - {at: 0s, event: deploy, expect: continue()}\n")
	if err != nil {
		t.Fatal(err)
	}
	// shed has 3 branches, turns 2, deployed 2, sum 2; the background's expression is nobody's.
	if c := r.Coverage; c.Branches != 9 || c.Reached != 2 || !r.Short() || !r.Failed() {
		t.Errorf("%+v", c)
	}
	if text := r.Coverage.String(); !strings.HasPrefix(text, "2 of 9 branches reached, 22.2 %, and 80 % wanted\n") ||
		!strings.Contains(text, `p.yaml:10:40: policy "shed": never reached: set("overloaded", true); continue()`) {
		t.Error(text)
	}
}

// recorder is a TB.
type recorder struct{ said string }

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) { r.said += fmt.Sprintf(format, args...) + "\n" }

func TestRunReports(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("p.yaml", documentText)
	failing := write("a_test.yaml", "version: 1\ndocuments: [p.yaml]\ncoverage: 50%\ntests:\n  - {name: it, events: [{at: 0s, on: start, expect: switch()}]}\n")
	broken := write("b_test.yaml", "version: 1\ndocuments: [none.yaml]\ntests:\n  - {name: it, events: [{at: 0s, on: start, expect: switch()}]}\n")
	var r recorder
	Run(&r, failing, broken)
	for _, want := range []string{"a_test.yaml:5:25: it: at 0s, on start: the verdict is continue(); want switch()", "1 of 9 branches reached", "none.yaml: no such file"} {
		if !strings.Contains(r.said, want) {
			t.Errorf("it says %s\nwant %q", r.said, want)
		}
	}
}

// wantFailures checks that the first test of r fails with that text, or not at all if it is empty.
func wantFailures(t *testing.T, r *Report, want string) {
	t.Helper()
	text := ""
	for _, f := range r.Results[0].Failures {
		text += f.String() + "\n"
	}
	if !strings.Contains(text, want) || want == "" && text != "" {
		t.Errorf("failures %s\nwant %q", text, want)
	}
}

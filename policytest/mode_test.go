package policytest

import (
	"fmt"
	"strings"
	"testing"
)

// Policies of all modes in one test: observing policies decide nothing, and see states of their
// own.
func TestModes(t *testing.T) {
	const document = `version: 1
states: {n: 0, spent: {first: 0, keys: 9}, tokens: {rate: 1, burst: 3}}
policies:
  - name: dry
    on: enqueue
    mode: observe
    state: {seen: 0}
    expr: |
      add("n", 10); add("seen", 1); add("spent", arriving.name, 1);
      state.n >= 20 and rate("n", duration("1s")) > 0 or not take("tokens", 1) ? throw("dry") : continue()
  - {name: wet, on: enqueue, expr: 'add("n", 1); add("spent", arriving.name, 1); state.n >= 3 ? throw("wet") : take("tokens", 1) ? continue() : throw("empty")'}
  - {name: none, on: enqueue, mode: off, expr: throw("off")}
  - {name: last, on: enqueue, mode: observe, expr: 'state.n == 12345 ? throw("last") : arriving.priority > 0 ? cancel() : continue()'}
`
	const test = "tests:\n  - name: it\n    given: {arriving.name: a}\n    events:\n"
	for _, c := range []struct{ name, tests, want string }{
		{"both", test + `      - at: 0s
        on: enqueue
        expect:
          verdict: continue()
          effects: ['add("n", 1)', 'add("spent", "a", 1)', 'take("tokens", 1)']
          states: {n: 1, seen: 0, spent: {a: 1}, tokens: 2}
          asked: [dry, wet, last]
          observed: {verdict: continue(), effects: ['add("n", 10)', 'add("seen", 1)', 'add("spent", "a", 1)', 'take("tokens", 1)'], states: {n: 1, seen: 1, spent: {a: 1}, tokens: 2}}
      - {at: 0s, on: enqueue, expect: {states: {n: 2, seen: 0}, observed: {states: {n: 2, seen: 2}}}}
`, ""},
		{"a throw that is observed refuses nothing", test + `      - {at: 0s, on: enqueue, given: {state.n: 20}, expect: {verdict: throw("wet"), policy: wet, asked: [dry, wet]}}
      - {at: 0s, on: enqueue, expect: {observed: throw("dry")}}
      - {at: 0s, on: enqueue, given: {state.n: 0}, times: 3, expect: {counts: {continue(): 3}, observed: {counts: {continue(): 3}}}}
`, ""},
		{"effects on a task that another policy would have refused", "mode: observe\n" + test + `      - {at: 0s, on: enqueue, given: {state.tokens: 0}, expect: {observed: {verdict: throw("dry"), states: {n: 10, spent: {a: 1}}}}}
`, ""},
		{"another observed verdict", test + "      - {at: 0s, on: enqueue, expect: {observed: throw(\"dry\")}}\n", `the observed verdict is continue(); want throw("dry")`},
		{"what was said", test + "      - {at: 0s, on: enqueue, given: {state.n: 12345}, expect: throw(\"dry\")}\n", `the verdict is throw("wet"); want throw("dry")` + "\n" + `  policy "dry" observes, and would say continue(), add("n", 10)`},
		{"a hint", test + "      - {at: 0s, on: enqueue, given: {state.n: -5, state.tokens: 0}, expect: throw(\"dry\")}\n",
			`the verdict is throw("empty"); want throw("dry"); policy "dry" says so in mode observe: expect observed: ..., or write mode: enforce at the top of this file`},
		{"counts", test + "      - {at: 0s, on: enqueue, times: 2, expect: {observed: {counts: {continue(): 1}}}}\n", `continue() is only observed, and said 2 times; want 1`},
		{"a policy that observes cancels itself", test + "      - {at: 0s, on: enqueue, given: {arriving.priority: 1}, expect: {off: [last]}}\n      - {at: 0s, on: enqueue, expect: {asked: [dry, wet]}}\n", ""},
		{"all observe", "mode: observe\n" + test + `      - {at: 0s, on: enqueue, times: 3, expect: {verdict: continue(), effects: [], states: {n: 0}, observed: {states: {n: 32, seen: 3}}}}
      - {at: 0s, on: enqueue, expect: {asked: [dry, wet, none, last], observed: {verdict: throw("dry"), policy: dry}}}
`, ""},
		{"all enforce", "mode: enforce\n" + test + "      - {at: 0s, on: enqueue, expect: {asked: [dry, wet], verdict: throw(\"wet\"), states: {n: 11}}}\n      - {at: 0s, on: enqueue, given: {state.n: -99, state.tokens: 3}, expect: {asked: [dry, wet, none], verdict: throw(\"off\")}}\n", ""},
		{"none is evaluated", "mode: off\n" + test + "      - {at: 0s, on: enqueue, expect: {asked: []}}\n", ""},
		{"no mode", "mode: test\n" + test + "      - {at: 0s, on: enqueue, expect: {asked: []}}\n", `p_test.yaml:3:7: there is no mode "test"; want enforce, observe or off`},
		{"a key of observed", test + "      - {at: 0s, on: enqueue, expect: {observed: {asked: []}}}\n", `observed has no key "asked"; there is counts, effects, policy, states, verdict`},
	} {
		said := told(t, document, c.tests)
		if strings.Contains(said, "throw(\"last\")") {
			t.Errorf("%s: a shadow of 12345: %s", c.name, said)
		}
		says(t, c.name, said, c.want)
	}
}

// A failure names a limit as its document does, with the place, and with the policy's name for
// tests.
func TestLimitsAreNamedByTheirDocument(t *testing.T) {
	const document = "version: 1\nlimits:\n  - {func: GET /*, limit: 1s}\n"
	for expect, want := range map[string]string{
		"continue()":  "p.yaml:3: limit of \"GET /*\" (policy \"time-limit/GET-",
		"{policy: p}": `the documents have no policy "p"`,
	} {
		r, _, err := runs(t, document, "tests:\n  - name: it\n    events:\n      - {at: 0s, on: tick, given: {task.name: GET /a, task.running: 2s}, expect: "+expect+"}\n")
		text := fmt.Sprint(err)
		if err == nil {
			text = fmt.Sprintf("%+v", r)
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s: %s; want %s", expect, text, want)
		}
	}
}

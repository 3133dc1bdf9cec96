package policytest

import (
	"testing"
)

const patterns = `version: 1
states: {n: 5, full: 9223372036854775807}
policies:
  - name: admin
    on: enqueue
    match: {tasks: ["GET /admin/*"], except: [GET /admin/ping]}
    expr: 'arriving.labels.host in pattern("*.org") ? throw("org") : continue()'
  - name: rest
    on: enqueue
    match: {tasks: [default]}
    expr: throw("rest")
  - {name: off, on: enqueue, mode: off, expr: throw("off")}
  - name: open
    on: block
    expr: 'task.sections[pattern("re*")] > duration("1ms") ? switch() : continue()'
  - name: counts
    event: count
    state: {most: {first: 1, per: loop}}
    expr: 'add("n", 2); add("n", 1); max("most", 4); min("n", 7)'
  - name: overflows
    event: overflow
    expr: 'set("n", 1); add("full", 1)'
`

// Patterns in match and in expressions, and the effects on states, mean what they mean on a server.
func TestPatternsAndWrites(t *testing.T) {
	for _, c := range []struct{ name, event, want string }{
		{"a pattern", `{at: 0s, on: enqueue, given: {arriving.name: GET /admin/x, arriving.labels: {host: a.org}}, expect: {asked: [admin], verdict: throw("org")}}`, ""},
		{"a name in no pattern", `{at: 0s, on: enqueue, given: {arriving.name: GET /admin/x, arriving.labels: {host: a.com}}, expect: {asked: [admin], verdict: continue()}}`, ""},
		{"an exception", `{at: 0s, on: enqueue, given: {arriving.name: GET /admin/ping}, expect: {asked: [rest]}}`, "asked are []; want [rest]"},
		{"the default", `{at: 0s, on: enqueue, given: {arriving.name: GET /b}, expect: {asked: [rest], verdict: throw("rest")}}`, ""},
		{"why not", `{at: 0s, on: enqueue, given: {arriving.name: GET /admin/ping}, expect: continue()}`, `it matches GET /admin/* but GET /admin/ping alone, and arriving.name is "GET /admin/ping"`},
		{"off", `{at: 0s, on: enqueue, given: {arriving.name: GET /admin/ping}, expect: continue()}`, `policy "off" is not asked: its mode is off`},
		{"sections", `{at: 0s, on: block, given: {task.sections: {regex: 2ms, other: 9ms}}, expect: switch()}`, ""},
		{"other sections", `{at: 0s, on: block, given: {task.sections: {other: 9ms}}, expect: switch()}`, `task.sections[pattern("re*")] = 0s (not given)`},
		{"writes", `{at: 0s, event: count, expect: {effects: ['add("n", 2)', 'add("n", 1)', 'max("most", 4)', 'min("n", 7)'], states: {n: 7, most: 4}}}`, ""},
		{"all or none", `{at: 0s, event: overflow, expect: {error: overflow, states: {n: 5}}}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			says(t, c.name, told(t, patterns, "tests:\n  - {name: it, events: ["+c.event+"]}\n"), c.want)
		})
	}
}

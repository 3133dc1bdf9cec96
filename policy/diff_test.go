package policy

import (
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	read := func(text string) *Document {
		t.Helper()
		d, err := ReadDocument(strings.NewReader("version: 1\n" + text))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	const shed = "policies:\n  - name: shed\n    on: start\n    expr: |\n      queue.length > 1\n        ? throw(\"a\")\n        : continue()\n"
	for _, c := range []struct{ name, old, new, want string }{
		{"nothing", fullDocument[len("\nversion: 1\n"):], "# other\n" + fullDocument[len("\nversion: 1\n"):], ""},
		{"states", "states: {a: 1, b: true, c: 0}", "states: {d: 1s, b: 1, c: 1}",
			"- state \"a\"\n~ state \"b\": bool true -> int 1; it starts again\n~ state \"c\": 0 -> 1, and gets that value\n+ state \"d\"\n"},
		{"tasks", "tasks: {a: safe, b: {cost: 1ms, priority: 1, labels: {x: \"1\"}}}", "tasks: {c: safe, b: {kind: both, priority: 2, labels: {x: \"1\", y: \"2\"}}}",
			"- task \"a\"\n~ task \"b\":\n    kind: nothing -> both\n    priority: 1 -> 2\n    labels: {x: 1} -> {x: 1, y: 2}\n    cost: 1ms -> nothing\n+ task \"c\"\n"},
		{"tenants", "tenants: {label: a, shares: {x: 2}}", "tenants: {label: b, max: 3}", "~ tenants:\n    label: a -> b\n    shares: {x: 2} -> nothing\n    max: nothing -> 3\n"},
		{"another order", "policies: [{name: a, on: start, expr: continue()}, {name: b, on: start, expr: continue()}, {name: c, on: start, expr: continue()}]",
			"policies: [{name: d, on: start, expr: continue()}, {name: b, on: start, expr: continue()}, {name: a, on: start, expr: continue()}]",
			"- policy \"c\"\n+ policy \"d\"\n~ policies: order: a, b -> b, a\n"},
		{"no tenants", "tenants: {label: a}", "", "- tenants\n"},
		{"a limit that is forced", "limits: [{func: f, limit: 1s}]", "limits: [{func: f, limit: 1s, force: true}]", "~ policy \"time-limit/f\": force: false -> true\n"},
		{"a limit", "", "limits: [{func: f, limit: 1s}]", "+ policy \"time-limit/f\"\n"},
		{"a policy", shed, "policies:\n  - name: shed\n    every: 1ms\n    mode: observe\n    match: {tasks: [a, b]}\n    state: {n: 1}\n    expr: |\n      queue.length > 1\n        ? throw(\"b\")\n        : continue()\n",
			"~ policy \"shed\":\n    every: nothing -> 1ms\n    on: start -> nothing\n    mode: enforce -> observe\n    match tasks: nothing -> [a, b]\n    state: nothing -> {n: 1}\n    expr:\n        queue.length > 1\n      -   ? throw(\"a\")\n      +   ? throw(\"b\")\n          : continue()\n"},
	} {
		got := ""
		for _, change := range Diff(read(c.old), read(c.new)) {
			got += change.String() + "\n"
		}
		if got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

package document

import (
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	read := func(text string) *Document {
		t.Helper()
		d, err := Read(strings.NewReader("version: 1\n" + text))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	const shed = "policies:\n  - name: shed\n    on: start\n    expr: |\n      queue.length > 1\n        ? throw(\"a\")\n        : continue()\n"
	const users = `policies:
  - {name: reads, on: start, expr: "state.a > 1 ? throw('x') : continue()"}
  - {name: indexes, on: start, expr: "state['a'] > 1 ? throw('x') : continue()"}
  - {name: writes, on: start, expr: "min('a', 1)"}
  - {name: means, on: start, expr: "average('a', duration('10s')) > 1 ? throw('x') : continue()"}
  - {name: takes, on: start, expr: "take('b', 1) ? throw('x') : continue()"}
  - {name: other, on: start, expr: "state.c > 1 and task.name != 'a' and task.labels.a != 'state.a' ? throw('x') : add('c', 1)"}
`
	for _, c := range []struct{ name, old, new, want string }{
		{"nothing", fullDocument[len("\nversion: 1\n"):], "# other\n" + fullDocument[len("\nversion: 1\n"):], ""},
		{"states", "states: {a: 1, b: true, c: 0}", "states: {d: 1s, b: 1, c: 1}",
			"- state \"a\"\n~ state \"b\": bool true -> int 1; it starts again\n~ state \"c\": 0 -> 1, and gets that value\n+ state \"d\"\n"},
		{"tasks", "tasks: {a: safe, b: {cost: 1ms, priority: 1, labels: {x: \"1\"}}}", "tasks: {c: safe, b: {kind: both, priority: 2, labels: {x: \"1\", y: \"2\"}}}",
			"- task \"a\"\n~ task \"b\":\n    kind: nothing -> both\n    priority: 1 -> 2\n    labels: {x: 1} -> {x: 1, y: 2}\n    cost: 1ms -> nothing\n+ task \"c\"\n"},
		{"all other tasks", "tasks: {default: safe}", "tasks: {default: both}", "~ task \"default\": kind: safe -> both\n"},
		{"all other tasks of policies", "limits: [{func: default, limit: 1s}]\npolicies: [{name: p, on: start, match: {tasks: [default]}, expr: throw('x')}]",
			"limits: [{func: default, limit: 1s}, {func: f, limit: 1s}]\npolicies: [{name: p, on: start, match: {tasks: [default]}, expr: throw('x')}, {name: q, on: start, match: {tasks: [a]}, expr: throw('x')}]",
			"~ policy \"p\": default: all tasks but nothing -> all tasks but [a]\n+ policy \"q\":\n    on: start\n    match tasks: [a]\n    expr:\n      + throw('x')\n~ policy \"time-limit/default\": default: all tasks but nothing -> all tasks but [f]\n+ policy \"time-limit/f\":\n    every: 10ms\n    expr:\n      + task.sections[\"f\"] > duration(\"1s\") or (task.name == \"f\" and task.running > duration(\"1s\")) ? throw(\"f ran longer than 1s\") : continue()\n"},
		{"another match", "policies: [{name: p, on: start, match: {tasks: [default]}, expr: throw('x')}]", "policies: [{name: p, on: start, match: {tasks: [a]}, expr: throw('x')}]",
			"~ policy \"p\": match tasks: [default] -> [a]\n"},
		{"all tasks", "tasks: {'*': safe}", "", "- task \"*\"\n"},
		{"tenants", "tenants: {label: a, shares: {x: 2}}", "tenants: {label: b, max: 3}", "~ tenants:\n    label: a -> b\n    shares: {x: 2} -> nothing\n    max: nothing -> 3\n"},
		{"another order", "policies: [{name: a, on: start, expr: continue()}, {name: b, on: start, expr: continue()}, {name: c, on: start, expr: continue()}]",
			"policies: [{name: d, on: start, expr: continue()}, {name: b, on: start, expr: continue()}, {name: a, on: start, expr: continue()}]",
			"- policy \"c\"\n+ policy \"d\":\n    on: start\n    expr:\n      + continue()\n~ policies: evaluated in another order: a, b -> b, a\n"},
		{"no tenants", "tenants: {label: a}", "", "- tenants\n"},
		{"a canary", "", "canary: {share: 0.1}", "+ canary:\n    share: 0.1\n    by: task\n    rollback window: 1m0s\n"},
		{"another canary", "canary: {share: 0.1, rollback: {throws: 5}}", "canary: {share: 1, by: task.name, rollback: {window: 2m, failed: 0.1, queueing: 2}}",
			"~ canary:\n    share: 0.1 -> 1\n    by: task -> task.name\n    rollback window: 1m0s -> 2m0s\n    rollback throws: 5 -> nothing\n    rollback failed: nothing -> 0.1\n    rollback queueing: nothing -> 2\n"},
		{"a canary that ends", "canary: {share: 1}", "", "- canary\n"},
		{"kept", "never-unwind: [a.F, b.F]", "never-unwind: [{name: b.F, suspend: false}, c/...]",
			"- never-unwind \"a.F\"\n~ never-unwind \"b.F\": suspend: true -> false\n+ never-unwind \"c/...\"\n"},
		{"a policy that refers to another state", "states: {a: 1, b: {rate: 1, burst: 5}, c: 1}\n" + users, "states: {a: 1.5, b: {rate: 1, burst: 6}, c: 2}\n" + users,
			"~ state \"a\": int 1 -> float 1.5; it starts again\n~ state \"b\": {rate: 1, burst: 5} -> {rate: 1, burst: 6}, and keeps its tokens\n~ state \"c\": 1 -> 2, and gets that value\n" +
				"~ policy \"indexes\": it starts again, because the state \"a\" has changed\n~ policy \"means\": it starts again, because the state \"a\" has changed\n" +
				"~ policy \"reads\": it starts again, because the state \"a\" has changed\n~ policy \"takes\": it starts again, because the state \"b\" has changed\n~ policy \"writes\": it starts again, because the state \"a\" has changed\n"},
		{"a policy that is not in force", "policies: [{name: gone, on: start, expr: continue()}]", "policies: [{name: gone, on: start, mode: observe, expr: continue()}]",
			"~ policy \"gone\":\n    mode: enforce -> observe\n    it starts again, because it is not in force\n"},
		{"private states", "policies: [{name: a, on: start, state: {n: 0, k: {first: 1, per: loop}, o: 1}, expr: continue()}]",
			"policies: [{name: a, on: start, state: {n: 0s, k: {rate: 1, burst: 2, keys: 3, per: loop}, m: false}, expr: continue()}]",
			"~ policy \"a\":\n    state k: int {first: 1, per: loop} -> bucket by key {rate: 1, burst: 2, keys: 3, per: loop}\n    state m: nothing -> false\n    state n: int 0 -> duration 0s\n    state o: 1 -> nothing\n    its private states start again\n"},
		{"the zone", "policies: [{name: a, on: start, expr: continue()}]", "zone: Europe/Berlin\npolicies: [{name: a, on: start, expr: continue()}]", "~ policy \"a\": zone: UTC -> Europe/Berlin\n"},
		{"a limit that is forced", "limits: [{func: f, limit: 1s}]", "limits: [{func: f, limit: 1s, force: true}]", "~ policy \"time-limit/f\": force: false -> true\n"},
		{"a limit", "", "limits: [{func: f, limit: 1s}]", "+ policy \"time-limit/f\":\n    every: 10ms\n    expr:\n      + task.sections[\"f\"] > duration(\"1s\") or (task.name == \"f\" and task.running > duration(\"1s\")) ? throw(\"f ran longer than 1s\") : continue()\n"},
		{"a new policy", "", "zone: Europe/Berlin\npolicies:\n  - {name: a, every: 1ms, event: now, mode: observe, match: {kinds: [safe]}, state: {n: 1},\n     expr: \"state.n > 1\\n  ? throw('a -> b: c')\\n  : continue()\"}",
			"+ policy \"a\":\n    every: 1ms\n    on: custom\n    event: now\n    mode: observe\n    match kinds: [safe]\n    zone: Europe/Berlin\n    state n: 1\n    expr:\n      + state.n > 1\n      +   ? throw('a -> b: c')\n      +   : continue()\n"},
		{"a policy", shed, "policies:\n  - name: shed\n    every: 1ms\n    mode: observe\n    match: {tasks: [a, b]}\n    state: {n: 1}\n    expr: |\n      queue.length > 1\n        ? throw(\"b\")\n        : continue()\n",
			"~ policy \"shed\":\n    every: nothing -> 1ms\n    on: start -> nothing\n    mode: enforce -> observe\n    match tasks: nothing -> [a, b]\n    state n: nothing -> 1\n    expr:\n        queue.length > 1\n      -   ? throw(\"a\")\n      +   ? throw(\"b\")\n          : continue()\n"},
	} {
		got := ""
		for _, change := range Diff(read(c.old), read(c.new), map[string]bool{"gone": true}) {
			got += change.String() + "\n"
		}
		if got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// TestDiffOfKeyedStates: what is said of a change is what a reload does.
func TestDiffOfKeyedStates(t *testing.T) {
	const from = "{first: 0, keys: 5}"
	for _, c := range []struct{ from, to, want string }{
		{from, "{first: 0, keys: 5, ttl: 1m}", "{first: 0, keys: 5} -> {first: 0, keys: 5, ttl: 1m0s}, and keeps its keys"},
		{from, "{first: 0, keys: 6}", "{first: 0, keys: 5} -> {first: 0, keys: 6}; it starts again, without keys"},
		{from, "{first: 1, keys: 5}", "{first: 0, keys: 5} -> {first: 1, keys: 5}; it starts again, without keys"},
		{from, "{first: 0, keys: 5, by: name}", "{first: 0, keys: 5} -> {first: 0, keys: 5, by: name}, and keeps its keys"},
		{from, "{first: 0, keys: 5, by: [name, int]}", "int by key {first: 0, keys: 5} -> int by name and int {first: 0, keys: 5, by: [name, int]}; it starts again"},
		{from, "{first: 0s, keys: 5}", "int by key {first: 0, keys: 5} -> duration by key {first: 0s, keys: 5}; it starts again"},
		{from, "0", "int by key {first: 0, keys: 5} -> int 0; it starts again"},
		{"{rate: 1, burst: 5}", "{rate: 2, burst: 7}", "{rate: 1, burst: 5} -> {rate: 2, burst: 7}, and keeps its tokens"},
		{"{rate: 1, burst: 5}", "{rate: 1, burst: 5, keys: 3}", "bucket {rate: 1, burst: 5} -> bucket by key {rate: 1, burst: 5, keys: 3}; it starts again"},
		{"{rate: 1, burst: 5}", "5.0", "bucket {rate: 1, burst: 5} -> float 5; it starts again"},
	} {
		read := func(state string) *Document {
			d, err := Read(strings.NewReader("version: 1\nstates: {n: " + state + "}\n"))
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		if all := Diff(read(c.from), read(c.to), nil); len(all) != 1 || all[0].String() != `~ state "n": `+c.want {
			t.Errorf("%s -> %s:\n got %v\nwant %s", c.from, c.to, all, c.want)
		}
	}
}

package policytest

import "testing"

// TestKeyedStates gives keys and tokens, lets time pass, and looks at what is not as expected.
func TestKeyedStates(t *testing.T) {
	const document = `version: 1
states:
  spent: {first: 0s, keys: 2, ttl: 10m}
  seen: {first: 0, keys: 10}
  shards: {first: 0, keys: 10, by: [name, int]}
  bucket: {rate: 10, burst: 5}
policies:
  - name: limit
    on: enqueue
    state: {own: {rate: 1, burst: 2, keys: 10, per: loop}}
    expr: |
      let user = arriving.labels.user;
      if state.spent[user] > duration("10s") { throw("over the budget") }
      else if not take("bucket", 1) or not take("own", user, 1) { throw("rate limit") }
      else { add("seen", user, 1); continue() }
  - name: shard
    on: start
    expr: 'add("shards", task.labels.user, int(task.labels.shard), 1)'
  - name: charge
    on: exit
    expr: 'add("spent", task.labels.user, task.running)'
`
	for _, c := range []struct{ name, events, want string }{
		{"keys that are given", `- {at: 0s, on: enqueue, given: {state.spent: {gold: 11s, tin: 1s}, arriving.labels: {user: gold}}, expect: throw("over the budget")}
      - {at: 0s, on: enqueue, given: {arriving.labels: {user: tin}}, expect: {verdict: continue(), effects: ['take("bucket", 1)', 'take("own", "tin", 1)', 'add("seen", "tin", 1)'],
          states: {seen: {tin: 1, gold: 0}, bucket: 4, own: {tin: 1, gold: 2}}}}`, ""},
		{"a pair as the key", `- {at: 0s, on: start, given: {state.shards: {gold: {3: 5}}, task.labels: {user: gold, shard: "3"}}, times: 2,
          expect: {effects: ['add("shards", "gold", 3, 1)'], states: {shards: {gold: {3: 7, 4: 0}, tin: {3: 0}}}}}`, ""},
		{"half a pair", `- {at: 0s, on: start, given: {state.shards: {gold: 3}}, expect: continue()}`, `the keys of the state shards["gold"] are by name and int; write a mapping for each part`},
		{"more than a pair", `- {at: 0s, on: start, given: {state.shards: {gold: {3: {4: 1}}}}, expect: continue()}`, `the keys of the state shards["gold"][3] are by name and int; write a mapping for each part`},
		{"a pair of names", `- {at: 0s, on: start, given: {state.shards: {gold: {x: 1}}}, expect: continue()}`, `and "x" is not an int`},
		{"another value of a key", `- {at: 0s, on: exit, given: {task.labels: {user: gold}, task.running: 2s}, times: 3, expect: {states: {spent: {gold: 6s, tin: 1s}}}}`, `the state spent["tin"] is 0s; want 1s`},
		{"time fills a bucket", `- {at: 0s, on: enqueue, times: 100, expect: {counts: {throw("rate limit"): 98, continue(): 2}}}
      - {at: 90ms, on: enqueue, expect: throw("rate limit")}
      - {at: 1s, on: enqueue, given: {arriving.labels: {user: b}}, expect: {verdict: continue(), states: {bucket: 4, own: {b: 1}}}}`, ""},
		{"tokens that are given", `- {at: 1h, on: enqueue, given: {state.bucket: 0.5}, expect: throw("rate limit")}
      - {at: 3600050ms, on: enqueue, expect: continue()}`, ""},
		{"time ends a key", `- {at: 0s, on: enqueue, given: {state.spent: {"gold": 11s}, arriving.labels: {user: gold}}, expect: throw("over the budget")}
      - {at: 10m, on: enqueue, expect: throw("over the budget")}
      - {at: 10m1ns, on: enqueue, expect: continue()}`, ""},
		{"the least recently used goes", `- {at: 0s, on: exit, given: {state.spent: {a: 1s, b: 2s}, task.labels: {user: a}}, expect: continue()}
      - {at: 0s, on: exit, given: {task.labels: {user: c}, task.running: 3s}, expect: {states: {spent: {b: 0s, c: 3s, a: 1s}}}}`, ""},
		{"what was seen", `- {at: 0s, on: exit, given: {task.labels: {user: gold}, task.running: 2s}, expect: switch()}`, "says continue(), add(\"spent\", \"gold\", 2s)\n    task.labels[\"user\"] = \"gold\""},
		{"a state without keys", `- {at: 0s, on: exit, given: {state.bucket: {a: 1}}, expect: continue()}`, "the state bucket has no keys"},
		{"a state with keys", `- {at: 0s, on: exit, expect: {states: {spent: 1s}}}`, "the state spent has a value for each key; write {KEY: VALUE}"},
		{"too many tokens", `- {at: 0s, on: exit, given: {state.bucket: 6}, expect: continue()}`, "the bucket bucket holds 0 to 5 tokens, and this is 6"},
		{"too few tokens", `- {at: 0s, on: exit, given: {state.own: {a: -1}}, expect: continue()}`, `the bucket own["a"] holds 0 to 2 tokens, and this is -1`},
		{"another type", `- {at: 0s, on: exit, given: {state.seen: {a: 1s}}, expect: continue()}`, `the state seen["a"] is of type int, and 1s is none`},
	} {
		t.Run(c.name, func(t *testing.T) {
			says(t, c.name, told(t, document, "tests:\n  - name: it\n    events:\n      "+c.events+"\n"), c.want)
		})
	}
}

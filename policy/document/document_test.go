package document

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

const fullDocument = `
version: 1
states:
  overloaded: false
  ratio: 0.5
  count: 3
  budget: 100ms
tasks:
  ScanHandler: preemptible
  "GET /": {kind: safe, priority: -3, cost: 5ms, labels: {tenant: "1", place: here}}
  GET /items/{id}: {priority: 0, background: false}
  /shop.Items/Get: {kind: both, background: true}
  backup: {background: true}
limits:
  - {func: regex.match, limit: 100ms}
  - func: json
    limit: 1s
    interval: 5ms
    reason: json took too long
preemption: {on: enqueue}
never-unwind:
  - gorm.io/gorm/...
  - name: example.com/cache.(*Cache).Fill
    suspend: false
policies:
  - name: shed
    every: 1ms
    mode: observe
    match: {loops: [main], tasks: ["GET /"], kinds: [both, safe]}
    state: {seen: 0, since: 0s}
    expr: |
      queue.length > 100
        ? set("overloaded", true)
        : set("overloaded", false)
  - name: on-two
    on: [enqueue, exit]
    expr: continue()
  - name: on-deploy
    event: deploy
    expr: continue()
`

func TestReadDocument(t *testing.T) {
	d, err := Read(strings.NewReader(fullDocument))
	if err != nil {
		t.Fatal(err)
	}
	wantStates := map[string]any{"overloaded": false, "ratio": 0.5, "count": int64(3), "budget": 100 * time.Millisecond}
	if !reflect.DeepEqual(d.States, wantStates) {
		t.Errorf("states %v", d.States)
	}
	priority := func(p int32) *int32 { return &p }
	wantTasks := map[string]Class{
		"ScanHandler":     {Kind: "preemptible"},
		"GET /":           {Kind: "safe", Priority: priority(-3), Cost: 5 * time.Millisecond, Labels: map[string]string{"tenant": "1", "place": "here"}},
		"GET /items/{id}": {Priority: priority(0)},
		"/shop.Items/Get": {Kind: "both"},
		"backup":          {},
	}
	if !reflect.DeepEqual(d.Tasks, wantTasks) {
		t.Errorf("tasks\n%+v\nwant\n%+v", d.Tasks, wantTasks)
	}
	regex, _ := policy.TimeLimit{Func: "regex.match", Limit: 100 * time.Millisecond}.Spec()
	json, _ := policy.TimeLimit{Func: "json", Limit: time.Second, Interval: 5 * time.Millisecond, Reason: "json took too long"}.Spec()
	want := []policy.Spec{
		regex, json, policy.DefaultPreemption(policy.On(stubs.Enqueue)), policy.Background("/shop.Items/Get", "backup"),
		{Name: "shed", On: policy.Every(time.Millisecond), Mode: policy.Observe,
			Match: policy.Match{Loops: []string{"main"}, Tasks: []string{"GET /"}, Kinds: []string{"both", "safe"}},
			State: map[string]any{"seen": int64(0), "since": time.Duration(0)},
			Expr:  "queue.length > 100\n  ? set(\"overloaded\", true)\n  : set(\"overloaded\", false)\n"},
		{Name: "on-two", On: policy.On(stubs.Enqueue | stubs.Exit), Expr: "continue()"},
		{Name: "on-deploy", On: policy.OnCustom("deploy"), Expr: "continue()"},
	}
	if !reflect.DeepEqual(d.Policies, want) {
		t.Errorf("policies\n%+v\nwant\n%+v", d.Policies, want)
	}
	for _, s := range d.Policies {
		if _, err := s.Parse(map[string]policy.State{"overloaded": {Type: stubs.Bool}}, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestReadDocumentMinimal(t *testing.T) {
	d, err := Read(strings.NewReader("version: 1\n"))
	if err != nil || len(d.Policies) != 0 || d.States == nil || d.Tasks == nil {
		t.Errorf("%+v, %v", d, err)
	}
}

var bomb = "version: 1\na: &a [x, x, x, x]\nb: &b [*a, *a, *a]\n"

// refusedDocuments are wrong, each in one way.
var refusedDocuments = []struct{ name, text, want string }{
	{"empty", "", "document:1: it is empty"},
	{"comment", "# nothing\n", "document:1: it is empty"},
	{"null", "---\n", "the document is nothing"},
	{"no version", "states: {}\n", "document:1: the document needs the key version"},
	{"version 2", "version: 2\n", "version 2 is not known"},
	{"a comma in braces", "version: 1\npolicies:\n  - {name: p, on: start, expr: set(\"n\", state.n + 1), state: {n: 0}}\n",
		`document:3: the comma ends the text set("n", because it stands between braces or brackets; write 'set("n", state.n + 1)', in quotes`},
	{"a canary without share", "version: 1\ncanary: {by: task}\n", "document:2: canary needs the key share"},
	{"a share above 1", "version: 1\ncanary: {share: 10}\n", "document:2: the share is 10; want 0 to 1"},
	{"no share", "version: 1\ncanary: {share: .nan}\n", "document:2: the share is NaN; want 0 to 1"},
	{"a share as text", "version: 1\ncanary: {share: 10%}\n", `document:2: the share is the string "10%"; want a number`},
	{"a canary by something", "version: 1\ncanary: {share: 1, by: user}\n", `a canary is not chosen by "user"; want task, task.name, tenant.name, or task.labels. and the name of a label`},
	{"a canary by no label", "version: 1\ncanary: {share: 1, by: task.labels.}\n", "a label's name"},
	{"a short window", "version: 1\ncanary: {share: 1, rollback: {window: 10ms}}\n", "the window 10ms is not between 1s and 1h0m0s"},
	{"a condition of 0", "version: 1\ncanary: {share: 1, rollback: {throws: 0}}\n", "throws is 0; leave it out for no condition, or write a number above 0"},
	{"a condition below 0", "version: 1\ncanary: {share: 1, rollback: {queueing: -1}}\n", "queueing is -1; want 0 to "},
	{"a great condition", "version: 1\ncanary: {share: 1, rollback: {failed: 2}}\n", "failed is 2; want 0 to 1"},
	{"version text", "version: one\n", `document:1: the string "one" stands where a whole number is wanted`},
	{"syntax", "version: 1\nstates: {a: 1\n", "document:2: did not find expected ',' or '}'; check that brackets and quotes are closed, and put a text with {, }, ?, : or # between braces in quotes"},
	{"syntax in line 4", "version: 1\npolicies:\n\n  - {name: p, on: start, expr: queue.length > 1 ? switch() : continue()}\n", "document:4: did not find expected ',' or '}'"},
	{"a choice without quotes", "version: 1\npolicies:\n  - name: p\n    on: start\n    expr: task.name == \"a\" ? switch() : continue()\n",
		"document:5: to YAML the colon ends a key, because the text has no quotes; put the text in quotes, or write expr: | and begin it in the next line"},
	{"a choice without quotes, and its end", "version: 1\npolicies:\n  - expr: task.cancelled ? switch() :\n      continue()\n", "document:3: to YAML the colon ends a key"},
	{"depth", "version: 1\nstates: " + strings.Repeat("[", 10001), "document:2: exceeded max depth of 10000; close the brackets and braces"},
	{"tab", "version: 1\nstates:\n\ta: 1\n", "document:3: found character that cannot start any token; indent with spaces, not tabs"},
	{"indentation", "version: 1\ntasks:\n  a: safe\n   b: safe\n", "document:4: mapping values are not allowed in this context; check the indentation"},
	{"colon", "version: 1\npolicies:\n  - x y: a: c\n", "and put texts with a colon and a space in quotes, or after |"},
	{"route between brackets", "version: 1\nbackground: [GET /items/{id}]\n", "put a text with {, }, ?, : or # between brackets in quotes"},
	{"star", "version: 1\nbackground: [*]\n", "put names that begin with * or & in quotes"},
	{"exclamation mark", "version: 1\npolicies:\n  - {name: a}\n  - name: p\n    expr: !state.on ? a : b\n", "put texts that begin with ! or ? in quotes"},
	{"bracket", "version: 1\nlimits: [{func: a}\n", "check that brackets and quotes are closed"},
	{"quote", "version: 1\ntasks:\n  \"a: safe\n", "close the quotes or brackets that this line opens"},
	{"list", "- 1\n", "document:1: the document is a list; want keys"},
	{"unknown key", "version: 1\npolicys: []\n", `document:2: the document has no key "policys"; did you mean policies?`},
	{"duplicate key", "version: 1\nstates: {}\nversion: 1\n", `document:3: the document has the key "version" twice, first in line 1`},
	{"duplicate state", "version: 1\nstates:\n  a: 1\n  a: 2\n", `document:4: states has the key "a" twice`},
	{"alias", bomb, "document:2: anchors and aliases"},
	{"tag", "version: !!str 1\n", "the tag !!str is not supported"},
	{"merge", "version: 1\nstates:\n  <<: {a: 1}\n", "document:3: a key of states is"},
	{"two documents", "version: 1\n---\nversion: 1\n", "document:2: there is a second document"},
	{"state name", "version: 1\nstates:\n  a-b: 1\n", `document:3: state "a-b": a name has`},
	{"state type", "version: 1\nstates:\n  a: [1]\n", "document:3: a state is a list"},
	{"state null", "version: 1\nstates:\n  a:\n", "document:3: a state is nothing"},
	{"state text", "version: 1\nstates:\n  a: hello\n", `document:3: a state is the string "hello"; want true or false, a number, or a duration like 100ms`},
	{"state no", "version: 1\nstates:\n  a: no\n", `document:3: a state is the string "no"; want true or false`},
	{"state range", "version: 1\nstates:\n  a: 99999999999999999999\n", "document:3: the number 99999999999999999999 is too large"},
	{"state infinite", "version: 1\nstates:\n  a: .inf\n", `document:3: state "a" is +Inf`},
	{"number key", "version: 1\ntasks:\n  404: safe\n", "document:3: a key of tasks is int 404"},
	{"task name", "version: 1\ntasks:\n  \"a\\nb\": safe\n", `document:3: a task's name "a\nb" is not printable text`},
	{"task twice", "version: 1\ntasks:\n  f: safe\n  f: both\n", `document:4: tasks has the key "f" twice`},
	{"tasks type", "version: 1\ntasks: [f]\n", "document:2: tasks is a list; want keys and values"},
	{"kind", "version: 1\ntasks:\n  f: fast\n", `document:3: there is no kind "fast"; want "atomic", "preemptible", "safe" or "both", or "waits"`},
	{"kind type", "version: 1\ntasks:\n  f: 1\n", "document:3: int 1 stands where a string is wanted"},
	{"kind in a task", "version: 1\ntasks:\n  f:\n    kind: fast\n", `document:4: there is no kind "fast"`},
	{"nothing of a task", "version: 1\ntasks:\n  f: {}\n", "document:3: the task has no properties; write its kind"},
	{"no kind", "version: 1\ntasks:\n  f:\n", "document:3: nothing stands where a string is wanted"},
	{"zone of a policy", "version: 1\npolicies:\n  - {name: p, on: start, zone: UTC, expr: continue()}\n", `a policy has no key "zone"; it is a key of the document, at the top`},
	{"task key", "version: 1\ntasks:\n  f: {prio: 1}\n", `document:3: a task has no key "prio"; there is background, cost, kind, labels, priority`},
	{"priority type", "version: 1\ntasks:\n  f: {priority: high}\n", `document:3: the string "high" stands where a whole number`},
	{"priority range", "version: 1\ntasks:\n  f: {priority: 2147483648}\n", "document:3: the priority 2147483648 is not between -2147483648 and 2147483647"},
	{"labels type", "version: 1\ntasks:\n  f: {labels: [a]}\n", "document:3: labels is a list; want keys"},
	{"label type", "version: 1\ntasks:\n  f: {labels: {a: 1}}\n", "document:3: int 1 stands where a string is wanted; write it in quotes"},
	{"label empty", "version: 1\ntasks:\n  f:\n    labels:\n      a: \"\"\n", `document:5: the label "a" is empty`},
	{"label name", "version: 1\ntasks:\n  f: {labels: {\"a\\x01\": b}}\n", `document:3: a label's name "a\x01" is not printable text`},
	{"cost type", "version: 1\ntasks:\n  f: {cost: 5}\n", "document:3: int 5 stands where a duration is wanted"},
	{"cost zero", "version: 1\ntasks:\n  f: {cost: 0s}\n", "document:3: the cost 0s is not positive"},
	{"background type", "version: 1\ntasks:\n  f: {background: sometimes}\n", `document:3: the string "sometimes" stands where true or false is wanted`},
	{"many tasks", manyTasks(MaxTasks + 1), "document:3: tasks has 4097 names, and 4096 are allowed"},
	{"limits type", "version: 1\nlimits: {}\n", "document:2: limits is a mapping; want a list"},
	{"limit without", "version: 1\nlimits:\n  - func: f\n", "document:3: a limit needs the key limit"},
	{"limit zero", "version: 1\nlimits:\n  - func: f\n    limit: 0s\n", "document:3: time limit: the limit of"},
	{"limit number", "version: 1\nlimits:\n  - func: f\n    limit: 100\n", "document:4: int 100 stands where a duration is wanted"},
	{"limit twice", "version: 1\nlimits:\n  - {func: f, limit: 1s}\n  - {func: f, limit: 2s}\n", `document:4: there is another limit of "f", in line 3`},
	{"limit interval", "version: 1\nlimits:\n  - {func: f, limit: 1s, interval: 0s}\n", `document:3: the interval 0s is not between 5µs and 24h0m0s`},
	{"preemption", "version: 1\npreemption: {}\n", "document:2: preemption: it is never evaluated; write every or on"},
	{"preemption tick", "version: 1\npreemption: {on: tick}\n", `there is no event "tick"; want enqueue, start, block, unblock, exit, leave or custom; write every: and an interval`},
	{"event as on", "version: 1\npolicies:\n  - name: p\n    on: rain\n    expr: continue()\n", `document:4: there is no event "rain"; want enqueue, start, block, unblock, exit, leave or custom; write event: rain, without on, for a custom event of that name`},
	{"no trigger", "version: 1\npolicies:\n  - name: p\n    expr: continue()\n", `document:3: policy "p": it is never evaluated; write every, on or event`},
	{"on and event", "version: 1\npolicies:\n  - name: p\n    on: start\n    event: rain\n    expr: continue()\n", `document:5: a policy has either on or event; event: "rain" is on: custom for that name alone, so leave on out`},
	{"interval", "version: 1\npolicies:\n  - name: p\n    every: 1us\n    expr: continue()\n", "document:4: the interval 1µs is not"},
	{"interval zero", "version: 1\npolicies:\n  - name: p\n    every: 0s\n    expr: continue()\n", "document:4: the interval 0s is not"},
	{"event of the runtime", "version: 1\npolicies:\n  - name: p\n    event: enqueue\n    expr: continue()\n", "document:4: enqueue is an event of the runtime and no custom one; write on: enqueue"},
	{"event tick", "version: 1\npolicies:\n  - name: p\n    event: tick\n    expr: continue()\n", "document:4: tick is an event of the runtime and no custom one; write every:"},
	{"event custom", "version: 1\npolicies:\n  - name: p\n    event: custom\n    expr: continue()\n", "document:4: custom is not the name of an event; write on: custom"},
	{"event pattern", "version: 1\npolicies:\n  - name: p\n    event: cache.*\n    expr: continue()\n", `document:4: the name of an event is not a pattern; write on: custom, and event.name in pattern("cache.*")`},
	{"empty event", "version: 1\npolicies:\n  - name: p\n    event: \"\"\n    expr: continue()\n", "document:4: the event's name is empty"},
	{"bad name", "version: 1\npolicies:\n  - name: p q\n    on: start\n    expr: continue()\n", `document:3: policy name "p q"`},
	{"force of a limit", "version: 1\nlimits:\n  - {func: a, limit: 1s, force: 2}\n", `document:3: int 2 stands where true or false is wanted`},
	{"mode of all", "version: 1\nmode: dry\n", `document:2: there is no mode "dry"; want enforce, observe or off`},
	{"mode of a limit", "version: 1\nlimits:\n  - {func: a, limit: 1s, mode: no}\n", `document:3: there is no mode "no"`},
	{"state per", "version: 1\npolicies:\n  - {name: p, on: start, expr: continue(), state: {n: {first: 1, per: task}}}\n", `document:3: a state is not per "task"; write loop, or runtime`},
	{"state without a first value", "version: 1\npolicies:\n  - {name: p, on: start, expr: continue(), state: {n: {per: loop}}}\n", `document:3: a state needs the key first`},
	{"registered state per loop", "version: 1\nstates:\n  n: {first: 1, per: loop}\n", `document:3: a registered state is one for all loops`},
	{"bucket without burst", "version: 1\nstates:\n  n: {rate: 1}\n", "document:3: a token bucket needs rate and burst"},
	{"bucket with a first value", "version: 1\nstates:\n  n: {rate: 1, burst: 1, first: 1}\n", "document:3: a token bucket is full at first"},
	{"bucket without tokens", "version: 1\nstates:\n  n: {rate: 1, burst: 0}\n", `document:3: state "n" has the burst 0; want more than 0 tokens`},
	{"rate of infinity", "version: 1\nstates:\n  n: {rate: .inf, burst: 1}\n", `document:3: state "n" has the rate +Inf; want more than 0 tokens`},
	{"rate type", "version: 1\nstates:\n  n: {rate: 5s, burst: 1}\n", "document:3: the string \"5s\" stands where a number of tokens is wanted"},
	{"rate with a unit", "version: 1\nstates:\n  n: {rate: 90/m, burst: 1}\n", "document:3: a rate is a number of tokens per second; write rate: 1.5 for 90/m"},
	{"rate per second", "version: 1\nstates:\n  n: {rate: 10 per second, burst: 1}\n", "write rate: 10 for 10 per second"},
	{"no keys", "version: 1\nstates:\n  n: {first: 1, keys: 0}\n", `document:3: a state keeps 1 to 1000000 keys, and not 0`},
	{"more keys than an int of 32 bits", "version: 1\nstates:\n  n: {first: 1, keys: 4294967297}\n", `document:3: a state keeps 1 to 1000000 keys, and not 4294967297`},
	{"many keys", "version: 1\nstates:\n  n: {first: 1, keys: 1000001}\n", `document:3: a state keeps 1 to 1000000 keys, and not 1000001`},
	{"ttl without keys", "version: 1\nstates:\n  n: {first: 1, ttl: 1s}\n", "document:3: ttl is how long a key is kept; say how many by keys"},
	{"key types", "version: 1\nstates:\n  n: {first: 1, keys: 1, by: [name, float]}\n", `document:3: a state has keys by "float"; want name or int, or a pair of them`},
	{"many key types", "version: 1\nstates:\n  n: {first: 1, keys: 1, by: [name, int, name]}\n", "document:3: a state has keys of 3 parts; want 1 to 2"},
	{"no key types", "version: 1\nstates:\n  n: {first: 1, keys: 1, by: []}\n", "document:3: a state has keys of 0 parts"},
	{"key types without keys", "version: 1\nstates:\n  n: {first: 1, by: int}\n", "document:3: by is the type of the keys; say how many by keys"},
	{"ttl zero", "version: 1\nstates:\n  n: {first: 1, keys: 1, ttl: 0s}\n", "document:3: the time to live 0s is not positive"},
	{"default as an exception", "version: 1\npolicies:\n  - {name: k, on: start, match: {except: [default]}, expr: continue()}\n",
		"policy \"k\": match: except: default stands for tasks in match.tasks only; list the names to leave out"},
	{"default and all", "version: 1\npolicies:\n  - {name: k, on: start, match: {tasks: [default, '*']}, expr: continue()}\n",
		"policy \"k\": match: tasks: \"*\" includes default; write one of them"},
	{"many defaults", manyDefaults(65), "document:67: more than 64 policies match default"},
	{"stars", "version: 1\ntasks:\n  " + strings.Repeat("a*", 17) + ": safe\n", "document:3: a task's name: the pattern"},
	{"stars of a limit", "version: 1\nlimits: [{func: '" + strings.Repeat("a*", 17) + "', limit: 1s}]\n", "document:2: time limit: the pattern"},
	{"stars of a match", "version: 1\npolicies:\n  - {name: p, on: start, expr: continue(), match: {except: ['" + strings.Repeat("a*", 17) + "']}}\n", `document:3: policy "p": match.except: a task's name: the pattern`},
	{"default twice", "version: 1\ntasks:\n  default: safe\n  '*': safe\n", "document:4: default and * mean the same; write one of them"},
	{"default limit twice", "version: 1\nlimits:\n  - {func: default, limit: 1s}\n  - {func: default, limit: 2s}\n", `document:4: there is another limit of "default", in line 3`},
	{"default limit and all", "version: 1\nlimits:\n  - {func: '*', limit: 1s}\n  - {func: default, limit: 2s}\n", `document:4: default and * mean the same; write one of them`},
	{"mode", "version: 1\npolicies:\n  - {name: p, on: start, expr: continue(), mode: test}\n", `there is no mode "test"; want enforce, observe or off`},
	{"pattern of loops", "version: 1\npolicies:\n  - {name: p, on: start, expr: continue(), match: {loops: ['bulk*']}}\n",
		`document:3: policy "p": match.loops: "bulk*" has a star, and loops are matched by whole names; leave loops out for all of them`},
	{"match of nothing", "version: 1\npolicies:\n  - {name: p, on: start, expr: continue(), match: {tasks: [A], except: [A]}}\n",
		`document:3: policy "p": match: "A" stands in tasks and in except, so it matches no task; remove one of the two`},
	{"match key", "version: 1\npolicies:\n  - {name: p, on: start, expr: continue(), match: {task: [a]}}\n", `match has no key "task"; did you mean tasks?`},
	{"match kind", "version: 1\npolicies:\n  - {name: p, on: start, expr: continue(), match: {kinds: [a]}}\n", `match.kinds: there is no kind "a"`},
	{"match type", "version: 1\npolicies:\n  - {name: p, on: start, expr: continue(), match: {loops: main}}\n", `loops is the string "main"; want a list, [main]`},
	{"same name", "version: 1\npolicies:\n  - {name: p, on: start, expr: continue()}\n  - {name: p, on: exit, expr: continue()}\n", `document:4: there is another policy "p", in line 3`},
	{"tenants without", "version: 1\ntenants: {shares: {a: 1}}\n", "document:2: tenants needs the key label"},
	{"tenants label", "version: 1\ntenants: {label: \"\"}\n", "document:2: tenants: the label has no name"},
	{"share", "version: 1\ntenants:\n  label: t\n  shares: {a: 0}\n", "document:4: a share is 1 to 1000000, and this is 0"},
	{"share type", "version: 1\ntenants:\n  label: t\n  shares: {a: much}\n", `document:4: the string "much" stands where a whole number`},
	{"shares type", "version: 1\ntenants:\n  label: t\n  shares: [a]\n", "document:4: shares is a list; want keys"},
	{"tenants max 0", "version: 1\ntenants: {label: t, max: 0}\n", "document:2: a loop keeps 1 to 65536 accounts of tenants, and not 0; leave max out for 1024"},
	{"a pattern of tenants", "version: 1\ntenants: {label: t, shares: {\"gold*\": 3}}\n", `document:2: the name of a tenant is not a pattern; name each tenant with a share, or write \* for a star`},
	{"a limit without effect", "version: 1\nlimits:\n  - {func: GET /*, limit: 1s}\n  - {func: GET /a, limit: 10s}\n", `document:4: the limit 10s of "GET /a" has no effect, because the limit 1s of "GET /*" in line 3 applies to all its tasks and sections; raise that one, or leave this one out`},
	{"an empty reason", "version: 1\nlimits: [{func: f, limit: 1s, reason: ''}]\n", "document:2: the reason is empty; leave it out for the name and the limit"},
	{"a limit too short", "version: 1\nlimits: [{func: f, limit: 1ns}]\n", `document:2: time limit: the limit of "f" is 1ns; want 5µs or more, which the runtime can tell apart`},
	{"a quoted number", "version: 1\nstates: {n: '0'}\n", `document:2: a state is the string "0"; write the number without quotes, or a duration like 100ms`},
	{"a quoted float", "version: 1\nstates: {n: \"0.5\"}\n", `document:2: a state is the string "0.5"; write the number without quotes`},
	{"a duration without a unit", "version: 1\npolicies: [{name: p, every: '0', expr: continue()}]\n", `document:2: the string "0" stands where a duration is wanted`},
	{"the place of default", "version: 1\npolicies:\n  - {name: p, on: start, expr: continue()}\n  - {name: q, on: start, expr: continue(), match: {except: [default]}}\n", `document:4: policy "q": match: except: default stands for tasks`},
	{"an exception of no task", "version: 1\npolicies: [{name: p, on: start, expr: continue(), match: {tasks: [GET /a*], except: [POST /a]}}]\n", `document:2: policy "p": match.except: "POST /a" excepts nothing, because match.tasks has no such task`},
	{"an exception of a name", "version: 1\npolicies: [{name: p, on: start, expr: continue(), match: {tasks: [a, b], except: [c]}}]\n", `match.except: "c" excepts nothing`},
	{"a pattern that excepts nothing", "version: 1\npolicies: [{name: p, on: start, expr: continue(), match: {tasks: [GET *, POST /*], except: ['PUT *']}}]\n", `match.except: "PUT *" excepts nothing`},
	{"tenants max", "version: 1\ntenants: {label: t, max: 999999999999}\n", "document:2: a loop keeps 1 to 65536 accounts of tenants, and not 999999999999"},
	{"kept twice", "version: 1\nnever-unwind:\n  - a.F\n  - {name: a.F, suspend: false}\n", `document:4: never-unwind has "a.F" twice, first in line 3`},
	{"kept all", "version: 1\nnever-unwind: [...]\n", `document:2: never-unwind: "...": it matches all code`},
	{"kept number", "version: 1\nnever-unwind: [1]\n", "document:2: int 1 stands where a string is wanted"},
	{"kept without name", "version: 1\nnever-unwind: [{suspend: false}]\n", "document:2: an entry of never-unwind needs the key name"},
	{"kept suspend", "version: 1\nnever-unwind: [{name: a.F, suspend: never}]\n", `document:2: the string "never" stands where true or false`},
	{"kept pattern", "version: 1\nnever-unwind: ['a.(T).F']\n", `document:2: never-unwind: "a.(T).F": want a package, as in`},
	{"kept many", "version: 1\nnever-unwind: [" + strings.Repeat("a.F, ", 257) + "]\n", "document:2: never-unwind has 257 entries, and 256 are allowed"},
	{"order", "version: 1\norder: lifo\n", `document:2: there is no order "lifo"; want deadline, fair, fifo, priority, shortest`},
	{"background twice", "version: 1\ntasks:\n  f: {background: true}\npolicies:\n  - {name: background, on: exit, expr: continue()}\n", `document:5: there is another policy "background", in line 3`},
	{"order twice", "version: 1\norder: fifo\npolicies:\n  - {name: order, on: exit, expr: continue()}\n", `document:4: there is another policy "order", in line 2, made by order; choose another name`},
	{"deep", "version: 1\nstates: " + strings.Repeat("[", 20000), "document:"},
	{"deep and closed", "version: 1\nstates: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000), "document:"},
	{"huge", "version: 1\n#" + strings.Repeat("x", MaxSize), "document: it has more than 1048576 bytes"},
	{"nul", "version: 1\x00\n", "document:"},
	{"not utf-8", "version: \xff\n", "document:1: the document is not valid UTF-8; save it as UTF-8"},
}

func TestReadDocumentRefuses(t *testing.T) {
	for _, c := range refusedDocuments {
		_, err := Read(strings.NewReader(c.text))
		if text := withoutColumn(err); !strings.Contains(text, c.want) || !strings.HasPrefix(text, "document:") {
			t.Errorf("%s: error %.200v\nwant one with %q", c.name, err, c.want)
		}
	}
}

var column = regexp.MustCompile(`^(document:\d+):\d+: `)

// withoutColumn is an error for tests to which its line is enough; document_error_test.go is about
// columns.
func withoutColumn(err error) string { return column.ReplaceAllString(fmt.Sprint(err), "$1: ") }

// manyDefaults is a document in which so many policies match what no other does.
func manyDefaults(n int) string {
	var b strings.Builder
	b.WriteString("version: 1\npolicies:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {name: p%d, on: start, expr: continue(), match: {tasks: [default, x%d]}}\n", i, i)
	}
	return b.String()
}

// Default is expanded where the document is read: what is registered has patterns and exceptions.
func TestReadDocumentWithDefaults(t *testing.T) {
	d, err := Read(strings.NewReader(manyDefaults(3) + `tasks: {default: {background: true}, "GET /a/*": safe, b: {background: true}}
limits: [{func: default, limit: 1s}, {func: a, limit: 1s}, {func: "a*", limit: 1s}]
`))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, s := range d.Policies {
		got += fmt.Sprint(s.Name, s.Match.Tasks, s.Match.Except, " ")
	}
	const limits, others = "time-limit/default[] [a a*] time-limit/a[] [] ",
		"background[* b] [GET /a/*] p0[* x0] [x1 x2] p1[* x1] [x0 x2] p2[* x2] [x0 x1] "
	if !strings.HasPrefix(got, limits) || !strings.HasSuffix(got, others) || d.Tasks["*"].Kind != "" || len(d.Tasks) != 3 {
		t.Errorf("%s\nwant %s... %s", got, limits, others)
	}
	if _, err := Read(strings.NewReader(manyDefaults(64))); err != nil {
		t.Error(err)
	}
}

// manyTasks is a document with so many tasks.
func manyTasks(n int) string {
	var b strings.Builder
	b.WriteString("version: 1\ntasks:\n")
	for i := range n {
		fmt.Fprintf(&b, "  f%d: safe\n", i)
	}
	return b.String()
}

func TestReadDocumentWithManyTasks(t *testing.T) {
	if d, err := Read(strings.NewReader(manyTasks(MaxTasks))); err != nil || len(d.Tasks) != MaxTasks {
		t.Errorf("%v", err)
	}
}

type broken struct{}

var errBroken = errors.New("disk on fire")

func (broken) Read([]byte) (int, error) { return 0, errBroken }

func TestReadDocumentKeepsReadErrors(t *testing.T) {
	if _, err := Read(broken{}); !errors.Is(err, errBroken) {
		t.Errorf("error %v", err)
	}
}

// An empty expression has a place, also as the last text of the document.
func TestEmptyExpressionHasAPlace(t *testing.T) {
	for _, value := range []string{`""`, `''`, "|", ">-", "''\n  mode: off", "''\n# end"} {
		for _, end := range []string{"", "\n", "\n\n"} {
			text := "version: 1\npolicies:\n- name: p\n  on: start\n  expr: " + value + end
			d, err := Read(strings.NewReader(text))
			if err != nil {
				t.Errorf("%q: %v", text, err)
				continue
			}
			_, err = d.Policies[0].Parse(nil, nil)
			if got := fmt.Sprint(d.Refused(Part{"policy", "p"}, err)); !strings.HasPrefix(got, "document:5:") {
				t.Errorf("%q: the error is %s; want line 5", text, got)
			}
		}
	}
}

func FuzzReadDocument(f *testing.F) {
	f.Add("version: 1\npolicies: [{name: p, on: exit, expr: ''}]")
	f.Add(fullDocument)
	f.Add("version: 1\nstates: {a: &x [*x]}")
	f.Add("version: 1\npolicies:\n- {name: p, on: start, expr: \"a\\\n  \\u00e9 '\"}\n-\n  name: q\n  on: exit\n  expr: >1-\n    a\n\n     b\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, s := range d.Policies {
			if err := s.Validate(); err != nil {
				t.Errorf("%q gives an invalid policy: %v", text, err)
			}
			if _, err := s.Parse(nil, nil); err != nil {
				refused := d.Refused(Part{"policy", s.Name}, err)
				if line := fmt.Sprintf("%+v", refused); !strings.HasPrefix(line, "document:") {
					t.Errorf("%q: the error has no place: %s", text, line)
				}
			}
		}
		if out, err := Format([]byte(text)); err == nil {
			if again, err := Format(out); err != nil || !bytes.Equal(out, again) {
				t.Errorf("%q is formatted as %q, and that as %q: %v", text, out, again, err)
			}
		}
		ReadTests(strings.NewReader(text))
	})
}

// Of the modes of a document and of what stands in it the greatest counts, wherever they stand.
func TestModesOfDocument(t *testing.T) {
	const text = `
version: 1
limits: [{func: a, limit: 1s}, {func: b, limit: 1s, mode: off}]
preemption: {on: enqueue, mode: observe}
order: fifo
tasks: {c: {background: true}}
policies: [{name: d, on: start, expr: continue()}, {name: e, on: start, expr: continue(), mode: enforce}]
`
	for mode, want := range map[string][]policy.Mode{
		"":                {policy.Enforce, policy.Off, policy.Observe, policy.Enforce, policy.Enforce, policy.Enforce, policy.Enforce},
		"mode: enforce\n": {policy.Enforce, policy.Off, policy.Observe, policy.Enforce, policy.Enforce, policy.Enforce, policy.Enforce},
		"mode: observe\n": {policy.Observe, policy.Off, policy.Observe, policy.Observe, policy.Observe, policy.Observe, policy.Observe},
		"mode: off\n":     {policy.Off, policy.Off, policy.Off, policy.Off, policy.Off, policy.Off, policy.Off},
	} {
		d, err := Read(strings.NewReader(text + mode))
		if err != nil {
			t.Fatal(err)
		}
		var got []policy.Mode
		for _, p := range d.Policies {
			got = append(got, p.Mode)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", mode, got, want)
		}
	}
}

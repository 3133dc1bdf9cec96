package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// explain names the tasks that a policy matches and the zone of its clock, and check names two
// limits of one function as their author wrote them.
func TestPolicyExplain(t *testing.T) {
	file := files(t)
	night := file("night.yaml", `version: 1
zone: Europe/Berlin
policies:
  - name: night
    on: enqueue
    match: {loops: [bulk], tasks: [GET /*, POST /*], except: [GET /health], kinds: [safe]}
    expr: 'clock.hour in 2..4 ? throw("at night") : continue()'
  - {name: all, on: exit, expr: 'call("F")'}
`)
	mixed := file("mixed.yaml", "version: 1\npolicies: [{name: p, on: enqueue, expr: 'arriving.priority in [1, 2] or loop.busy > 9 or queue.length  > 9 and arriving.priority < 0 ? throw(\"x\") : continue()'}]\n")
	listed := file("listed.yaml", "version: 1\npolicies: [{name: p, on: enqueue, expr: 'queue.length > 9 or any(1..3, # == arriving.priority) and loop.busy > 1 ? throw(\"x\") : continue()'}]\n")
	one := file("one.yaml", "version: 1\nlimits:\n  - {func: regex.match, limit: 1s}\n")
	two := file("two.yaml", "version: 1\nlimits:\n  - {func: regex.match, limit: 2s}\n")
	idle := file("idle.yaml", "version: 1\ntenants: {label: tenant, shares: {gold: 3}}\ntasks: {a: atomic}\n"+
		"policies: [{name: p, every: 1ms, match: {tasks: [a], kinds: [both]}, expr: throw(\"x\")}]\n")
	taken := file("taken.yaml", "version: 1\nstates: {requests: {rate: 1.5, burst: 20}}\npolicies: [{name: p, on: enqueue, expr: 'not take(\"requests\", 1) ? throw(\"x\") : continue()'}]\n")
	wrong := file("wrong.yaml", "polices: []\n")
	fair := file("fair.yaml", "version: 1\norder: fair\ntenants: {label: tenant}\n")
	const shares = ":2:10: warning: tenants: the shares have no effect, because no policy reads arriving.virtual_time; write order: fair\n"
	const kinds = `idle.yaml:4:50: warning: policy "p": match: the tasks "a" are declared atomic, and match.kinds has other kinds only`
	for _, c := range []struct {
		args []string
		code int
		out  []string
	}{
		{[]string{"check", idle}, 0, []string{idle + shares, kinds}},
		{[]string{"check", fair, idle}, 0, []string{kinds}},
		{[]string{"explain", "-safe", "F", night}, 0, []string{
			"  match      loops bulk; tasks GET /*, POST /*; except GET /health; kinds safe\n  zone       Europe/Berlin\n",
			":8: policy \"all\"\n  evaluated  on exit\n  mode       enforce\n  match      everything\n  cost "}},
		{[]string{"explain", mixed}, 0, []string{"\n  means      arriving.priority in [1, 2] or loop.busy > 9 or (queue.length > 9 and arriving.priority < 0)\n  cost "}},
		{[]string{"explain", listed}, 0, []string{"\n  means      queue.length > 9 or (any(1..3, # == arriving.priority) and loop.busy > 1)\n"}},
		{[]string{"explain", file("quantifier.yaml", "version: 1\npolicies: [{name: p, on: enqueue, expr: 'queue.length > 9 or any(1..3, # == arriving.priority) ? throw(\"x\") : continue()'}]\n")}, 0, []string{"  evaluated  on enqueue\n"}},
		{[]string{"explain", taken}, 0, []string{"\n  effects    take(\"requests\")\n  bucket     requests: 1.5 tokens a second, 90 a minute, at most 20\n"}},
		{[]string{"check", file("beside.yaml", "version: 1\nstates: {p: 100.0}\npolicies:\n  - name: p\n    on: enqueue\n    expr: 'arriving.labels.x == task.labels.x and chance(state.p) ? throw(\"x\") : continue()'\n")}, 0, []string{
			"beside.yaml:6:33: warning: policy \"p\": on enqueue task.labels[\"x\"] is about running tasks", ": chance(state.p) is always true while the state p has its first value, 100"}},
		{[]string{"explain", two}, 0, []string{two + ":3: limit of \"regex.match\"\n  name       time-limit/regex.match\n  evaluated  "}},
		{[]string{"check", one, two}, 1, []string{two + `:3:5: error: limit of "regex.match": it is declared already, by ` + one + ":3:5\n"}},
		{[]string{"check", taken, wrong}, 1, []string{wrong + ":1:1: error: ", "note: warnings about states, ranks and several policies come when there are no errors\n"}},
	} {
		code, out, err := command("", append([]string{"policy"}, c.args...)...)
		if code != c.code || !contains(out, c.out) || err != "" || len(c.args) == 3 && strings.Contains(out, "the shares") {
			t.Errorf("cocoon policy %q: exit code %d, want %d\nstdout %q, want %q\nstderr %q", c.args, code, c.code, out, c.out, err)
		}
	}
	_, out, _ := command("", "policy", "explain", "-json", "-safe", "F", night)
	var reports []report
	if err := json.Unmarshal([]byte(out), &reports); err != nil || len(reports) != 2 || len(reports[0].Match) != 4 || reports[0].Zone != "Europe/Berlin" || reports[1].Zone != "" {
		t.Errorf("%v: %s", err, out)
	}
}

// A misspelt verdict or reason in the counts of a test is called that.
func TestMisspeltCounts(t *testing.T) {
	file := files(t)
	file("p.yaml", "version: 1\npolicies:\n  - {name: shed, on: enqueue, expr: 'queue.length > 9 ? throw(\"busy\") : continue()'}\n")
	for counts, want := range map[string]string{
		`thorw("busy"): 3`: `counts has a number for each verdict, and "thorw(\"busy\")" is not a verdict; did you mean throw("busy")?`,
		`throw(busy): 3`:   `"throw(busy)" is not a verdict; write throw("busy")`,
		`continue: 3`:      `"continue" is not a verdict; write continue()`,
		`allow(): 3`:       `"allow()" is not a verdict; want continue(), switch() or throw("reason")`,
		`continue(): -3`:   `a verdict is said 0 times or more, and not -3 times`,
		`throw("bsy"): 3`:  `throw("bsy") is said 0 times; want 3; the policies say throw("busy") 3 times`,
	} {
		test := file("p_test.yaml", "version: 1\ndocuments: [p.yaml]\ntests:\n  - name: x\n    events:\n"+
			"      - {at: 0s, on: enqueue, times: 3, given: {queue.length: 10}, expect: {counts: {"+counts+"}}}\n")
		code, out, err := command("", "policy", "test", test)
		if code != 1 || !strings.Contains(out, want) || err != "" {
			t.Errorf("%s: exit code %d\n got %s%s\nwant %s", counts, code, out, err, want)
		}
	}
}

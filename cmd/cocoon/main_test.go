package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "8") // parallel tests wait most of the time
	os.Exit(m.Run())
}

// command runs one command line.
func command(in string, args ...string) (code int, out, err string) {
	var o, e strings.Builder
	code = run(args, streams{strings.NewReader(in), &o, &e})
	return code, o.String(), e.String()
}

const documentText = `version: 1
states: {overloaded: true}
tasks: {a: safe}
policies:
  - name: good
    every: 1ms
    expr: |
      task.running > duration("1s") ? throw("late") : state.overloaded ? set("overloaded", false) : continue()
  - name: odd
    on: [enqueue]
    expr: 'queue.length < 0 ? throw("never") : switch()'
  - name: bad
    mode: observe
    every: 1ms
    expr: |
      task.cancelled
        ? throw("gone")
        : 1 / queue.length > 0 ? switch() : continue()
`

func TestCommandLines(t *testing.T) {
	file := files(t)
	good := file("good.yaml", documentText[:strings.Index(documentText, "  - name: odd")])
	all, broken := file("all.yaml", documentText), file("broken.yaml", "version: 1\npolicys: []\n")
	other := file("other.yaml", "version: 1\nstates: {overloaded: 5}\ntasks: {a: safe}\npolicies:\n  - {name: good, on: start, expr: continue()}\n\ntenants: {label: customer}\n")
	later := file("later.yaml", "version: 1\npolicies:\n  - {name: later, on: start, expr: 'state.overloaded ? switch() : continue()'}\n  - {name: sets, on: exit, expr: 'set(\"overloaded\", queue.length > 9)'}\n")
	fairer := file("fairer.yaml", "version: 1\npolicies:\n  - {name: fairer, on: enqueue, expr: 'tenant.queued > 3 ? throw(\"x\") : continue()'}\n")
	idle := file("idle.yaml", `version: 1
states: {unused: 0, late: false, limit: 3}
order: priority
policies:
  - name: mine
    on: enqueue
    expr: 'state.late and queue.length > state.limit ? rank(1) : continue()'
  - {name: own, on: start, match: {tasks: [a]}, expr: 'let x = 3; task.name == "b" ? switch() : continue()'}
`)
	sets := file("sets.yaml", "version: 1\npolicies: [{name: sets, on: exit, expr: 'set(\"late\", queue.length > 3)'}]\n")
	fair := file("fair.yaml", "version: 1\norder: fair\n")
	shared := file("shared.yaml", "version: 1\norder: fair\ntenants: {label: tenant}\n")
	for _, test := range []struct {
		args     []string
		in       string
		code     int
		out, err []string // parts of the output; none: no output
	}{
		{args: nil, code: 2, err: []string{"usage: cocoon VERB", "policy"}},
		{args: []string{"-h"}, out: []string{"usage: cocoon VERB", "Exit codes"}},
		{args: []string{"polic"}, code: 2, err: []string{`there is no verb "polic"`}},
		{args: []string{"policy"}, code: 2, err: []string{"say one of check, explain, test, diff, fmt, schema"}},
		{args: []string{"policy", "-h"}, out: []string{"usage: cocoon policy SUBVERB", "  explain ", "Exit codes"}},
		{args: []string{"policy", "check", "-h"}, out: []string{"usage: cocoon policy check", "which is 1000", "Exit codes"}},
		{args: []string{"policy", "chek"}, code: 2, err: []string{`"chek" is none of check, explain, test`}},
		{args: []string{"policy", "check"}, code: 2, err: []string{"name at least one document, or give -expr"}},
		{args: []string{"policy", "check", "-nope"}, code: 2, err: []string{"-nope"}},
		{args: []string{"policy", "check", "-cost", "0", good}, code: 2, err: []string{"the cost limit 0"}},
		{args: []string{"policy", "check", good, "-json"}, code: 2, err: []string{"write flags before documents"}},
		{args: []string{"policy", "check", filepath.Join(t.TempDir(), "none.yaml")}, code: 2, err: []string{"none.yaml: no such file"}},
		{args: []string{"policy", "check", "-on", "enqueue", good}, code: 2, err: []string{"go with -expr"}},
		{args: []string{"policy", "check", "-expr", "continue()"}, code: 2, err: []string{"either -on or -every"}},
		{args: []string{"policy", "check", "-expr", "continue()", "-on", "exit", good}, code: 2, err: []string{"good.yaml is one"}},
		{args: []string{"policy", "check", "-expr", "continue()", "-on", "tick"}, code: 2, err: []string{`no event "tick"`}},
		{args: []string{"policy", "check", "-cost", "1001", good}, code: 2, err: []string{"the cost limit 1001 is none that a server has; want 1 to 1000 steps"}},
		{args: []string{"policy", "check", good, good}, code: 2, err: []string{"good.yaml is named twice"}},
		{args: []string{"policy", "check", "-state", "x", good}, code: 2, err: []string{"want NAME=TYPE"}},
		{args: []string{"policy", "check", "-state", "x=name", good}, code: 2, err: []string{"with bool, int, float, duration or bucket"}},
		{args: []string{"policy", "check", "-state", "x=bytes", good}, code: 2, err: []string{"with bool, int, float, duration or bucket"}},
		{args: []string{"policy", "check", "-state", "a-b=int", good}, code: 2, err: []string{`state "a-b": a name has letters`}},
		{args: []string{"policy", "check", "-state", "=int", good}, code: 2, err: []string{`state ""`}},
		{args: []string{"policy", "check", "-state", "x=int", "-state", "x=bool", good}, code: 2, err: []string{`state "x" is given twice`}},
		{args: []string{"policy", "check", "-safe", "", good}, code: 2, err: []string{"the name of a function is empty"}},

		{args: []string{"policy", "check", good}},
		{args: []string{"policy", "explain", good}, out: []string{
			"policy \"good\"\n", "every 1ms, for each running task\n", "mode       enforce\n", " of 1000 steps at most\n", "task.running, state.overloaded\n",
			`throw("late"), continue()`, `set("overloaded")`}},
		{args: []string{"policy", "check", all}, code: 1, out: []string{
			"all.yaml:11:12: warning: policy \"odd\": queue.length < 0 is always false", "all.yaml:18:11: error: policy \"bad\": division by zero: queue.length may be 0 here",
			"\n  18 |         : 1 / queue.length > 0 ? switch() : continue()\n     |           ^^^^^^^^^^^^^^^^\n"}},
		{args: []string{"policy", "check", good, broken}, code: 1, out: []string{`broken.yaml:2:1: error: the document has no key "policys"`}},
		{args: []string{"policy", "check", "-"}, in: documentText, code: 1, out: []string{"-:18:11: error: policy \"bad\""}},
		{args: []string{"policy", "check", good, other}, code: 1, out: []string{
			`other.yaml:2:10: error: state "overloaded": it is declared already, by ` + good + ":2:10\n", `other.yaml:3:9: error: task "a": it is declared already, by ` + good + ":3:9\n",
			`other.yaml:5:5: error: policy "good": it is declared already, by ` + good + ":5:5\n"}},
		{args: []string{"policy", "check", shared, other}, code: 1, out: []string{`other.yaml:7:10: error: tenants: ` + shared + `:3:10 names the tenants by another label, "tenant"`}},
		{args: []string{"policy", "check", later}, code: 1, out: []string{`later.yaml:3:37: error: policy "later": there is no state "overloaded"`}},
		{args: []string{"policy", "check", good, later}},
		{args: []string{"policy", "check", idle}, out: []string{
			"idle.yaml:7:56: warning: policy \"mine\": the policy \"order\" ranks the same tasks",
			"idle.yaml:2:10: warning: state \"unused\": no policy reads or writes it\n", "idle.yaml:2:21: warning: state \"late\": policies read it, and no policy writes it\n",
			"idle.yaml:8:60: warning: policy \"own\": nothing uses x\n",
			"idle.yaml:8:67: warning: policy \"own\": task.name == \"b\" is always false: task.name is \"a\" here\n", "hint: match lets no other tasks through\n"}},
		{args: []string{"policy", "check", idle, sets}, out: []string{"state \"unused\": no policy"}},
		{args: []string{"policy", "check", idle, broken}, code: 1, out: []string{"ranks the same tasks", `no key "policys"`}},
		{args: []string{"policy", "check", shared, fairer}},
		{args: []string{"policy", "check", "-state", "overloaded=bool", good}, code: 1, out: []string{`good.yaml:2:10: error: state "overloaded": it is declared already, by -state`}},
		{args: []string{"policy", "check", "-cost", "3", good}, code: 1, out: []string{"and 3 are allowed"}},

		{args: []string{"policy", "check", "-expr", "", "-on", "enqueue"}, code: 1, out: []string{"the policy is empty"}},
		{args: []string{"policy", "check", "-expr", "switch()", "-every", "0"}, code: 1, out: []string{"it is never evaluated"}},
		{args: []string{"policy", "check", "-expr", "switch()", "-every", "1ns"}, code: 1, out: []string{"the interval 1ns is not between"}},
		{args: []string{"policy", "check", "-expr", `arriving.kind == "safe" ? switch() : continue()`, "-on", "enqueue"}},
		{args: []string{"policy", "check", "-expr", `arriving.kind == "safe" ? switch() : continue()`, "-on", "enqueue+start"}, code: 1,
			out: []string{"arriving.kind is not known on start"}},
		{args: []string{"policy", "check", "-expr", `set("x", 1)`, "-on", "exit"}, code: 1, out: []string{`there is no state "x"`}},
		{args: []string{"policy", "check", "-state", "x=int", "-expr", `set("x", 1)`, "-on", "exit"}},
		{args: []string{"policy", "check", "-expr", `call("F")`, "-on", "exit"}, code: 1, out: []string{`no function "F"`}},
		{args: []string{"policy", "check", fair}, code: 1, out: []string{"fair.yaml:2:8: error: order: it reads arriving.virtual_time, and the document has no tenants"}},
		{args: []string{"policy", "check", "-tenants", fair}},
		{args: []string{"policy", "check", shared}},
		{args: []string{"policy", "check", "-expr", `tenant.queued > 1 ? throw("x") : continue()`, "-on", "enqueue"}, code: 1, out: []string{"tenant.queued"}},
		{args: []string{"policy", "explain", "-safe", "F", "-expr", `call("F")`, "-on", "exit"}, out: []string{`call("F")`, "reads      nothing"}},
		{args: []string{"policy", "explain", "-state", "o=bool", "-expr", `set("o", queue.length > 9)`, "-every", "1ms"}, out: []string{"every 1ms, for each loop"}},
		{args: []string{"policy", "explain", "-tenants", "-state", "n[]=int", "-state", "b=bucket", "-state", "k[]=bucket", "-on", "exit", "-expr",
			`let ok = take("b", 2) and take("k", tenant.name, 1); add("n", task.labels.user, 1); state.n["gold"] > 1 ? set("n", "gold", 0) : continue()`},
			out: []string{`reads      state.b, tenant.name, state.k[tenant.name], task.labels["user"], state.n["gold"]` + "\n",
				`effects    take("b"), take("k", tenant.name), add("n", task.labels["user"]), set("n", "gold")` + "\n"}},
		{args: []string{"policy", "explain", "-on", "exit", "-state", "n=int", "-expr", `set("n", hash(task.labels.user, "a", 7))`}, out: []string{`reads      hash(task.labels["user"])` + "\n"}},
		{args: []string{"policy", "check", "-state", "n[]=int", "-expr", `set("n", 1)`, "-on", "exit"}, code: 1, out: []string{"the state n has a value for each key"}},
		{args: []string{"policy", "explain", "-state", "n[name,int]=int", "-on", "exit", "-expr", `add("n", task.name, 3, state.n[task.name][task.priority])`},
			out: []string{"reads      task.name, task.priority, state.n[task.name][task.priority]\n", `effects    add("n", task.name, 3)` + "\n"}},
		{args: []string{"policy", "check", "-state", "n[nam]=int", good}, code: 2, err: []string{`state "n" has keys by "nam"; want name or int, or a pair of them`}},
		{args: []string{"policy", "check", "-state", "n[name=int", good}, code: 2, err: []string{"a [ of the state's keys is never closed"}},
		{args: []string{"policy", "check", "-state", "n[]=int", "-state", "n=int", good}, code: 2, err: []string{`state "n" is given twice`}},
	} {
		code, out, err := command(test.in, test.args...)
		if code != test.code || !contains(out, test.out) || !contains(err, test.err) {
			t.Errorf("cocoon %q: exit code %d, want %d\nstdout %q, want %q\nstderr %q, want %q", test.args, code, test.code, out, test.out, err, test.err)
		}
	}
}

// contains reports whether text has all parts. Without parts text must be empty.
func contains(text string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return len(parts) > 0 || text == ""
}

func TestPolicyJSON(t *testing.T) {
	code, out, _ := command(documentText, "policy", "check", "-json", "-")
	var reports []report
	if err := json.Unmarshal([]byte(out), &reports); err != nil {
		t.Fatal(err)
	}
	if code != 1 || len(reports) != 3 {
		t.Fatalf("exit code %d, %d reports", code, len(reports))
	}
	if r := reports[0]; r.Policy != "good" || r.File != "-" || r.Cost == 0 || len(r.Findings) != 0 || len(r.Reads) != 2 {
		t.Errorf("good: %+v", r)
	}
	if r := reports[1]; len(r.Findings) != 2 || r.Findings[0].Severity != "warning" || r.failed() {
		t.Errorf("odd: %+v", r)
	}
	r := reports[2]
	if len(r.Findings) != 1 || r.Cost != 0 {
		t.Fatalf("bad: %+v", r)
	}
	f := r.Findings[0]
	if f.Severity != "error" || f.Line != 18 || f.Column != 11 || f.Pos != 37 || f.End != 53 || f.Hint == "" {
		t.Errorf("bad: %+v", f)
	}
	if _, out, _ := command("version: 1\n", "policy", "check", "-json", "-"); strings.TrimSpace(out) != "[]" {
		t.Errorf("no policies: %q", out)
	}
}

// files returns a function that writes a file of that name into one folder, and returns its path.
func files(t *testing.T) func(name, text string) string {
	dir := t.TempDir()
	return func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

func TestPolicyTestCommand(t *testing.T) {
	file := files(t)
	file("p.yaml", "version: 1\npolicies:\n  - name: shed\n    on: enqueue\n    expr: 'queue.length > 9 ? throw(\"busy\") : continue()'\n")
	test := func(name, expect string) string {
		return file(name, "version: 1\ndocuments: [p.yaml]\ntests:\n  - name: long\n    events:\n      - {at: 0s, on: enqueue, given: {queue.length: 10}, expect: "+expect+"}\n")
	}
	good, bad, wrong := test("good_test.yaml", `throw("busy")`), test("bad_test.yaml", "continue()"), test("wrong_test.yaml", "contine()")
	lost := file("lost_test.yaml", "version: 1\ndocuments: [none.yaml]\ntests:\n  - {name: x, events: [{at: 0s, on: start, expect: continue()}]}\n")
	junit := filepath.Join(t.TempDir(), "junit.xml")
	for _, c := range []struct {
		args     []string
		code     int
		out, err []string
	}{
		{args: []string{"-h"}, out: []string{"usage: cocoon policy test", "Exit codes"}},
		{args: nil, code: 2, err: []string{"name at least one file"}},
		{args: []string{"-coverage", "0", good}, code: 2, err: []string{"want a share above 0 and up to 100"}},
		{args: []string{"-run", "(", good}, code: 2, err: []string{"missing closing )"}},
		{args: []string{"-run", "short", good}, code: 2, err: []string{"no test has a name that matches -run short, so none ran"}},
		{args: []string{lost}, code: 2, err: []string{lost + ": documents: open ", "none.yaml: no such file"}},
		{args: []string{good}, out: []string{"ok    " + good + ": 1 of 1 tests passed; 1 of 2 branches reached, 50.0 %\n"}},
		{args: []string{"-v", good}, out: []string{good + ":4:5: long: passed\n", `p.yaml:5:47: policy "shed": never reached: continue()`}},
		{args: []string{"-coverage", "80%", good}, code: 1, out: []string{"FAIL  " + good, "and 80 % wanted\n", `p.yaml:5:47: policy "shed": never reached: continue()`}},
		{args: []string{"-run", "ong", "-coverage", "80", good}, out: []string{"ok "}},
		{args: []string{"-junit", junit, good, bad}, code: 1, out: []string{"ok    " + good, bad + `:6:9: long: at 0s, on enqueue: the verdict is throw("busy"); want continue()`, "    queue.length = 10\n", "FAIL  " + bad}},
		{args: []string{wrong}, code: 1, out: []string{`wrong_test.yaml:6:66: "contine()" is not a verdict`, "FAIL  "}},
	} {
		code, out, err := command("", append([]string{"policy", "test"}, c.args...)...)
		if code != c.code || !contains(out, c.out) || !contains(err, c.err) {
			t.Errorf("cocoon policy test %q: exit code %d, want %d\nstdout %q, want %q\nstderr %q, want %q", c.args, code, c.code, out, c.out, err, c.err)
		}
	}
	xml, err := os.ReadFile(junit)
	if err != nil || !contains(string(xml), []string{"<testsuite name=\"" + bad + "\" tests=\"1\" failures=\"1\" errors=\"0\"", "<testcase name=\"long\"", "<failure message="}) {
		t.Errorf("%s, %v", xml, err)
	}
	code, out, _ := command("", "policy", "test", "-json", good, bad, wrong)
	var reports []struct {
		File, Error string
		Tests       []struct {
			Failures []struct{ Place, What, Said string }
		}
		Coverage struct{ Branches, Reached int }
	}
	if err := json.Unmarshal([]byte(out), &reports); err != nil || code != 1 || len(reports) != 3 {
		t.Fatalf("exit code %d, %v: %s", code, err, out)
	}
	if f := reports[1].Tests[0].Failures; len(f) != 1 || f[0].Place != bad+":6:9" || reports[0].Coverage.Reached != 1 || reports[2].Error == "" {
		t.Errorf("%+v", reports)
	}
}

func TestPolicyFileCommands(t *testing.T) {
	file := files(t)
	old := file("old.yaml", "version: 1\nstates: {a: 1, b: 2}\norder: fifo\n")
	new := file("new.yaml", "version: 1\nstates: {b: 3, c: 0}\norder: shortest\n")
	ugly, broken := file("ugly.yaml", "version: 1\nstates:\n    a: 1 # one\n"), file("broken.yaml", "version: [\n")
	const pretty = "version: 1\nstates:\n  a: 1 # one\n"
	for _, c := range []struct {
		args     []string
		in       string
		code     int
		out, err []string
	}{
		{args: []string{"schema"}, out: []string{`"$schema"`, `"policies"`}},
		{args: []string{"schema", "-h"}, out: []string{"yaml-language-server"}},
		{args: []string{"schema", old}, code: 2, err: []string{"it takes no files"}},
		{args: []string{"diff", old, new}, code: 1, out: []string{`- state "a"` + "\n" + `~ state "b": 2 -> 3, and gets that value` + "\n" + `+ state "c"` + "\n" + `~ policy "order": expr:`, "      - rank(0)\n      + rank(arriving.cost - arriving.running)\n"}},
		{args: []string{"diff", old, "-"}, in: "version: 1\norder: fifo\nstates: {b: 2, a: 1} # the same\n"},
		{args: []string{"diff", "-json", old, new}, code: 1, out: []string{`"what": "remove"`}},
		{args: []string{"diff", old}, code: 2, err: []string{"name two documents"}},
		{args: []string{"diff", old, old}, code: 2, err: []string{"is named twice"}},
		{args: []string{"diff", old, broken}, code: 1, err: []string{"broken.yaml:1:1: "}},
		{args: []string{"diff", "-h"}, out: []string{"usage: cocoon policy diff", "Exit codes"}},
		{args: []string{"fmt", "-h"}, out: []string{"usage: cocoon policy fmt", "Exit codes"}},
		{args: []string{"fmt"}, code: 2, err: []string{"name at least one"}},
		{args: []string{"fmt", ugly}, out: []string{pretty}},
		{args: []string{"fmt", "-"}, in: "version:    1  \n", out: []string{"version:    1\n"}},
		{args: []string{"fmt", "-w", "-"}, in: "version: 1\n", code: 2, err: []string{"cannot be written"}},
		{args: []string{"fmt", "-l", old, ugly}, code: 1, out: []string{ugly + "\n"}},
		{args: []string{"fmt", broken}, code: 1, err: []string{"broken.yaml:1:1: "}},
		{args: []string{"fmt", ugly + "x"}, code: 2, err: []string{"no such file"}},
		{args: []string{"fmt", "-w", ugly}},
		{args: []string{"fmt", "-l", ugly}},
	} {
		code, out, err := command(c.in, append([]string{"policy"}, c.args...)...)
		if code != c.code || !contains(out, c.out) || !contains(err, c.err) {
			t.Errorf("cocoon policy %q: exit code %d, want %d\nstdout %q, want %q\nstderr %q, want %q", c.args, code, c.code, out, c.out, err, c.err)
		}
	}
	if text, err := os.ReadFile(ugly); err != nil || string(text) != pretty {
		t.Errorf("%q, %v", text, err)
	}
}

// TestDocSubverbs compares the table of subverbs in docs/policy.md with the existing subverbs.
func TestDocSubverbs(t *testing.T) {
	doc, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "| subverb |")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")[2:]
	if len(rows) != len(policyVerbs) {
		t.Errorf("docs/policy.md has %d subverbs of policy; there are %s", len(rows), policyVerbNames())
	}
	for i, v := range policyVerbs {
		if i < len(rows) && !strings.HasPrefix(rows[i], "| `"+v.name+"` |") {
			t.Errorf("docs/policy.md has %q in place of %s", rows[i], v.name)
		}
	}
}

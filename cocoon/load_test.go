package cocoon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Loading a file is like loading its text, except that an error names the file.
func TestLoadPolicyFile(t *testing.T) {
	rt := start(t, Config{})
	name := filepath.Join(t.TempDir(), "policies.yaml")
	write := func(text string) { must(t, os.WriteFile(name, []byte(text), 0o600)) }
	write("version: 1\nstates: {x: 7}\n")
	must(t, rt.LoadPolicyFile(name))
	if got := rt.State("x"); got != int64(7) {
		t.Errorf("x is %v", got)
	}
	write("version: 2\n")
	if err := rt.LoadPolicyFile(name); err == nil || !strings.HasPrefix(err.Error(), name+":1:10: version 2 is not known") {
		t.Errorf("got %v", err)
	}
	write("version: 1\npolicies:\n  - {name: a, on: start, expr: cancel()}\n  - name: p\n    on: enqueue\n    expr: |\n      queue.length > 1\n      ? trow(1) : continue()\n")
	if err := rt.LoadPolicyFile(name); err == nil || !strings.HasPrefix(err.Error(), name+`:8:9: policy "p": there is no function trow`) {
		t.Errorf("got %v", err)
	}
	if err := rt.LoadPolicyFile(name + ".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// A check reports the changes that a load would make, and makes none.
func TestCheckPolicyFile(t *testing.T) {
	rt := start(t, Config{})
	name := filepath.Join(t.TempDir(), "policies.yaml")
	check := func(text, want string) {
		t.Helper()
		must(t, os.WriteFile(name, []byte("version: 1\n"+text), 0o600))
		changes, err := rt.CheckPolicyFile(name)
		got := ""
		for _, c := range changes {
			got += c.String() + "\n"
		}
		if err != nil {
			got = strings.TrimPrefix(err.Error(), name)
		}
		if got != want {
			t.Errorf("%s\ngot\n%s\nwant\n%s", text, got, want)
		}
	}
	const first = "states: {x: 1}\npolicies:\n  - {name: a, on: start, expr: 'set(\"x\", 2)'}\n  - {name: b, event: stop, expr: cancel()}\n"
	check(first, "+ state \"x\"\n+ policy \"a\":\n    on: start\n    expr:\n      + set(\"x\", 2)\n+ policy \"b\":\n    on: custom\n    event: stop\n    expr:\n      + cancel()\n")
	inForce := func(name string) bool { _, ok := rt.Stats().Policies[name]; return ok }
	if rt.State("x") != nil || inForce("a") {
		t.Error("the check has registered something")
	}
	must(t, rt.LoadPolicyFile(name))
	check(first, "")
	second := strings.Replace(first, "x: 1", "x: 1.5", 1)
	check(strings.Replace(second, "set(\"x\", 2)", "set(\"x\", 2.0)", 1), "~ state \"x\": int 1 -> float 1.5; it starts again\n~ policy \"a\": expr:\n      - set(\"x\", 2)\n      + set(\"x\", 2.0)\n")
	check(second, "~ state \"x\": int 1 -> float 1.5; it starts again\n~ policy \"a\": it starts again, because the state \"x\" has changed\n")
	check(strings.Replace(first, "states: {x: 1}\n", "", 1), `:3:37: policy "a": there is no state "x"; register it, or give the policy a private state of that name`)
	check("policies:\n  - {name: b, event: stop, expr: cancel(), mode: observe}\n", "- state \"x\"\n- policy \"a\"\n~ policy \"b\": mode: enforce -> observe\n")
	rt.Notify("stop", 0)
	eventually(t, "b has cancelled itself", func() bool { return !inForce("b") })
	check(first, "~ policy \"b\": it starts again, because it is not in force\n")
	if _, err := rt.CheckPolicyFile(name + ".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// A check names the policies that start again when the file is loaded, and no others.
func TestCheckNamesWhatStartsAgain(t *testing.T) {
	const users = `policies:
  - {name: reads, on: exit, expr: "state.n > 1 ? add('m', 1) : continue()"}
  - {name: takes, on: enqueue, expr: "take('drops', 1) ? continue() : throw('x')"}
  - {name: grows, on: enqueue, state: {n2: 0}, expr: "rate('n', duration('10s')) > 1 and state.n2 > 0 ? throw('x') : continue()"}
  - {name: leaves, event: stop, expr: cancel()}
`
	const states = "states: {n: 1, m: 1, drops: {rate: 1, burst: 5}}\n"
	for _, c := range []struct{ name, before, after string }{
		{"nothing", states + users, states + users},
		{"another value", states + users, strings.Replace(states, "n: 1", "n: 2", 1) + users},
		{"another rate", states + users, strings.Replace(states, "rate: 1", "rate: 2", 1) + users},
		{"another burst", states + users, strings.Replace(states, "burst: 5", "burst: 6", 1) + users},
		{"another type", strings.Replace(states, "n: 1", "n: 1.0", 1) + users, states + users},
		{"another type of a state", strings.Replace(states, "m: 1", "m: 1s", 1) + strings.Replace(users, "'m', 1", "'m', duration('1s')", 1), states + users},
		{"another burst, and a mode", states + users, "mode: observe\n" + strings.Replace(states, "burst: 5", "burst: 6", 1) + users},
		{"another mode", states + users, "mode: observe\n" + states + users},
		{"another private state", states + users, states + strings.Replace(users, "n2: 0", "n2: 1", 1)},
		{"more, and fewer", states + users, states + strings.Replace(users, "name: reads", "name: other", 1)},
	} {
		rt, file := start(t, Config{Slots: 1}), newPolicyFile(t)
		must(t, file.load(t, rt, c.before))
		rt.Notify("stop", 0)
		eventually(t, "leaves has cancelled itself", func() bool { return rt.Policy("leaves") == nil })
		before := map[string]*version{}
		for name, r := range rt.policies {
			before[name] = r.now
		}
		must(t, os.WriteFile(string(file), []byte("version: 1\n"+c.after), 0o600))
		changes, err := rt.CheckPolicyFile(string(file))
		must(t, err)
		must(t, rt.LoadPolicyFile(string(file)))
		said := map[string]bool{}
		for _, change := range changes {
			if change.Part.Kind == "policy" && change.What != "remove" && !(len(change.Details) == 1 && strings.HasPrefix(change.Details[0], "mode: ")) {
				said[change.Part.Name] = true
			}
		}
		for name, r := range rt.policies {
			if again := r.now != before[name]; again != said[name] {
				t.Errorf("%s: policy %q starts again: %v; said: %v\n%v", c.name, name, again, said[name], changes)
			}
		}
	}
}

package analyzer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// A switch() where the documents declare the kinds of all tasks.
func TestVainSwitch(t *testing.T) {
	turns, err := policy.RoundRobin(time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	off := turns
	off.Mode = policy.Off
	for _, c := range []struct {
		name  string
		spec  policy.Spec
		kinds map[string]string
		want  string
	}{
		{"all safe", turns, map[string]string{"*": "safe", "a": "atomic"}, "no task preemptible or both"},
		{"all preemptible", turns, map[string]string{"*": "preemptible", "a": "atomic"}, "no task safe or both"},
		{"both", turns, map[string]string{"*": "safe", "a": "both"}, ""},
		{"two kinds", turns, map[string]string{"*": "safe", "a": "preemptible"}, ""},
		{"a task of an unknown kind", turns, map[string]string{"*": "preemptible", "a": ""}, ""},
		{"other tasks unknown", turns, map[string]string{"a": "safe"}, ""},
		{"other tasks without a kind", turns, map[string]string{"*": "", "a": "safe"}, ""},
		{"off", off, map[string]string{"*": "safe"}, ""},
		{"no switch", on(stubs.Enqueue, `queue.length > 9 ? throw("x") : continue()`), map[string]string{"*": "safe"}, ""},
	} {
		tasks := map[string]document.Class{}
		for name, kind := range c.kinds {
			tasks[name] = document.Class{Kind: kind}
		}
		got := fmt.Sprint(remarks(Unaccompanied(members(t, declared, c.spec), tasks)))
		if (c.want == "") != (got == "[]") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %q", c.name, got, c.want)
		}
	}
}

// Names that look like those of other tools: regular expressions, queries, requests with a number.
func TestForeignNames(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"^GET /b$", "like a regular expression"},
		{"GET /(c|d)", "like a regular expression"},
		{"GET /a?x=1", "has a query"},
		{"GET /items/42", `nothing else names "GET /items/42"`},
		{"GET /items/latest", ""},
		{"GET /items/{$}", ""},
		{"GET /v1/items", ""},
		{"regexp.(*Regexp).Match", ""},
		{"what?", ""},
	} {
		spec := policy.Spec{On: policy.Every(1e6), Match: policy.Match{Tasks: []string{c.name}}, Expr: `task.running > duration("1s") ? throw("x") : continue()`}
		got := fmt.Sprint(remarks(Mismatched(members(t, declared, spec), map[string]document.Class{"GET /items/{id}": {Kind: "safe"}})))
		if (c.want == "") != (got == "[]") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %q", c.name, got, c.want)
		}
	}
}

// A flag with keys that nothing sets back.
func TestKeyedLatch(t *testing.T) {
	for _, c := range []struct {
		ttl   time.Duration
		clear string
		want  string
	}{
		{0, `continue()`, `set("flag", task.name, true) is all that policies do with the state flag: nothing sets it back`},
		{time.Minute, `continue()`, ""},
		{0, `set("flag", task.name, false)`, ""},
	} {
		states := statesOf(map[string]any{"flag": policy.Keyed{First: false, Keys: 5, TTL: c.ttl}})
		checkFlows(t, Declared{States: states}, []flowCase{{fmt.Sprint(c.ttl, c.clear), []policy.Spec{
			on(stubs.Exit, `task.running > duration("1s") ? set("flag", task.name, true) : `+c.clear),
			on(stubs.Enqueue, `state.flag[arriving.name] and not chance(0.05) ? throw("x") : continue()`),
		}, c.want}})
	}
}

package analyzer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// A match of tasks has no effect on a policy that is about no task.
func TestMatchOfNoTask(t *testing.T) {
	for _, c := range []struct {
		on    stubs.Event
		match policy.Match
		expr  string
		warns bool
	}{
		{stubs.Tick, policy.Match{Tasks: []string{"a"}}, `queue.length > 3 ? call("f") : continue()`, true},
		{stubs.Custom, policy.Match{Except: []string{"a"}}, `queue.length > 3 ? call("f") : continue()`, true},
		{stubs.Tick, policy.Match{Kinds: []string{"safe"}}, `queue.length > 3 ? call("f") : continue()`, true},
		{stubs.Tick, policy.Match{Loops: []string{"a"}}, `queue.length > 3 ? call("f") : continue()`, false},
		{stubs.Tick, policy.Match{Tasks: []string{"a"}}, `queue.length > 3 ? throw("busy") : continue()`, false},
		{stubs.Exit, policy.Match{Tasks: []string{"a"}}, `queue.length > 3 ? call("f") : continue()`, false},
		{stubs.Enqueue, policy.Match{Tasks: []string{"a"}}, `queue.length > 3 ? throw("busy") : continue()`, false},
	} {
		on := policy.On(c.on)
		if c.on == stubs.Tick {
			on = policy.Every(time.Second)
		}
		p, err := policy.Spec{Name: "p", On: on, Expr: c.expr}.Parse(nil, map[string]bool{"f": true})
		if err != nil {
			t.Fatal(err)
		}
		v, err := Verify(p, Limits{Match: c.match})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(fmt.Sprint(v.Warnings()), "match: tasks, except and kinds do nothing"); got != c.warns {
			t.Errorf("%v, %+v, %s: %v", c.on, c.match, c.expr, v.Warnings())
		}
	}
}

// A match that contradicts the expression is a warning, never an error.
func TestMatchContradicts(t *testing.T) {
	tasks := func(names ...string) policy.Match { return policy.Match{Tasks: names} }
	for _, c := range []struct {
		on    stubs.Event
		match policy.Match
		cond  string
		want  string // of the first warning; "": there is none
	}{
		{stubs.Tick, tasks("a"), `task.name == "b"`, `task.name == "b" is always false: task.name is "a" here; match lets no other tasks through`},
		{stubs.Tick, tasks("a"), `task.name != "b"`, `task.name != "b" is always true: task.name is "a" here`},
		{stubs.Tick, tasks("a", "b"), `task.name == "b"`, ""},
		{stubs.Tick, tasks("a"), `task.name == "a"`, `task.name == "a" is always true`},
		{stubs.Tick, tasks("GET /*"), `task.name in ["GET /a", "POST /b"]`, `task.name == "POST /b" is always false: task.name is anything but`},
		{stubs.Tick, tasks("GET /*"), `task.name == "GET /a"`, ""},
		{stubs.Tick, tasks("*"), `task.name == "x"`, ""},
		{stubs.Tick, policy.Match{Except: []string{"b"}}, `task.name == "b"`, `task.name == "b" is always false`},
		{stubs.Tick, policy.Match{Tasks: []string{"b*"}, Except: []string{"bb"}}, `task.name == "bb"`, `task.name == "bb" is always false`},
		{stubs.Tick, policy.Match{Tasks: []string{"a", "b"}, Except: []string{"b"}}, `task.name == "a"`, `task.name == "a" is always true`},
		{stubs.Tick, tasks("a", "bb"), `task.name in pattern("b*")`, ""},
		{stubs.Tick, tasks("a", "c"), `task.name in pattern("b*")`, `task.name in pattern("b*") is always false`},
		{stubs.Tick, tasks("ba", "bb"), `task.name in pattern("b*")`, `task.name in pattern("b*") is always true`},
		{stubs.Tick, policy.Match{Kinds: []string{"both"}}, `task.kind == "safe"`, `task.kind == "safe" is always false: task.kind is "both" here`},
		{stubs.Tick, policy.Match{Kinds: []string{"both", "safe"}}, `task.kind == "safe"`, ""},
		{stubs.Tick, policy.Match{Loops: []string{"bulk"}}, `loop.name == "default"`, `loop.name == "default" is always false: loop.name is "bulk" here`},
		{stubs.Enqueue, tasks("a"), `arriving.name == "b"`, `arriving.name == "b" is always false`},
		{stubs.Enqueue, tasks("a"), `task.name == "b"`, `on enqueue throw() refuses the arriving task, and task.name is about a task that runs; write arriving.name`},
		{stubs.Enqueue, policy.Match{Kinds: []string{"both"}}, `arriving.kind == "safe"`, `arriving.kind == "safe" is always false`},
		{stubs.Enqueue | stubs.Start, tasks("a"), `task.name == "b"`, `on enqueue throw() refuses`},
		{stubs.Start | stubs.Block, tasks("a"), `task.name == "b"`, `task.name == "b" is always false`},
		{stubs.Tick, tasks("a"), `task.running > duration("1s")`, ""},
		{stubs.Tick, tasks("a"), `queue.length < 0 or task.name == "a"`, `queue.length < 0 is always false`},
	} {
		env := testEnv
		env.On = c.on
		p, err := lang.Parse(c.cond+` ? throw("x") : continue()`, env)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Verify(p, Limits{Match: c.match})
		if err != nil {
			t.Errorf("%+v: %s is refused: %v", c.match, c.cond, err)
			continue
		}
		got := ""
		if all := v.Warnings(); len(all) > 0 {
			got = all[0].Reason + "; " + all[0].Hint
		}
		if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %s\n got %s\nwant %s", c.match, c.cond, got, c.want)
		}
	}
}

// What holds for matched tasks alone is no fact of the proof.
func TestMatchProvesNothing(t *testing.T) {
	p, err := lang.Parse(`1 / (task.name == "a" ? 1 : 0) > 0 ? throw("x") : continue()`, testEnv)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(p, Limits{Match: policy.Match{Tasks: []string{"a"}}}); err == nil {
		t.Error("the division is proved by the match")
	}
}

func TestUnusedPrivateStates(t *testing.T) {
	for _, c := range []struct {
		first any
		text  string
		want  string
	}{
		{0, `switch()`, "[nothing uses the private state own]"},
		{3, `switch()`, "[nothing uses the private state own]"},
		{0, `state.own > 3 ? switch() : continue()`, "[nothing writes the private state own]"},
		{3, `state.own > 3 ? switch() : continue()`, "[]"},
		{policy.Keyed{First: 3, Keys: 1}, `state.own["a"] > 3 ? switch() : continue()`, "[nothing writes the private state own]"},
		{policy.Bucket{Rate: 1, Burst: 5}, `state.own > 3 ? switch() : continue()`, "[nothing writes the private state own]"},
		{policy.Bucket{Rate: 1, Burst: 5}, `take("own", 1) ? switch() : continue()`, "[]"},
		{0, `add("own", 1)`, "[the policy writes the private state own, and nothing else can read it]"},
		{policy.PerLoop{First: 0}, `add("own", 1); rate("own", duration("1m")) > 3 ? switch() : continue()`, "[]"},
	} {
		s := policy.Spec{Name: "p", On: policy.On(stubs.Start), Expr: c.text, State: map[string]any{"own": c.first}}
		p, err := s.Parse(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Verify(p, LimitsOf(s))
		if got := fmt.Sprint(warned(v)); err != nil || got != c.want {
			t.Errorf("%v: %s\n got %s, %v\nwant %s", c.first, c.text, got, err, c.want)
		}
	}
}

// A match and a program may have thousands of names.
func TestManyMatchedNames(t *testing.T) {
	var names, quoted []string
	for i := range 10_000 {
		names = append(names, fmt.Sprint("task ", i))
		quoted = append(quoted, fmt.Sprintf("%q", names[i]))
	}
	p, err := lang.Parse("task.name in ["+strings.Join(quoted[5000:], ", ")+`] ? throw("x") : continue()`, testEnv)
	if err != nil {
		t.Fatal(err)
	}
	for want, m := range map[string]policy.Match{
		"[]":               {Tasks: names},
		"is always false":  {Tasks: names[:5000]},
		"is never reached": {Except: names[5000:]},
	} {
		begin := time.Now()
		v, err := Verify(p, Limits{Match: m})
		if got := fmt.Sprint(warned(v)); err != nil || !strings.Contains(got, want) {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
	}
}

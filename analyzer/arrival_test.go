package analyzer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// warning returns the first warning about a policy with its hint, or "".
func warning(t *testing.T, s policy.Spec) string {
	t.Helper()
	if s.Name == "" {
		s.Name = "p"
	}
	p, err := s.Parse(declared, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Verify(p, LimitsOf(s))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range v.Warnings() {
		return w.Reason + "; " + w.Hint
	}
	return ""
}

// A throw on enqueue refuses the arriving task, so a condition about task.* is most likely a
// mistake; not in a policy that compares the two tasks, or that may switch.
func TestThrowOnEnqueueAboutAnotherTask(t *testing.T) {
	const about = "on enqueue throw() refuses the arriving task, and "
	const later = " is about a task that runs; evaluate the policy on start, or on ticks, to throw into that task; or read arriving.*"
	for _, c := range []struct {
		on         stubs.Event
		expr, want string
	}{
		{stubs.Enqueue, `task.name == "a" ? throw("x") : continue()`, about + `task.name is about a task that runs; write arriving.name`},
		{stubs.Enqueue, `task.labels.tier == "gold" ? continue() : throw("x")`, about + `task.labels["tier"] is about a task that runs; write arriving.labels["tier"]`},
		{stubs.Enqueue, `let low = task.priority < 0; if queue.length > 9 { if low { throw("x") } else { continue() } } else { continue() }`,
			about + `task.priority is about a task that runs; write arriving.priority`},
		{stubs.Enqueue, `let x = task.name; let y = x == "a"; y ? throw("x") : continue()`, about + `task.name is about a task that runs; write arriving.name`},
		{stubs.Enqueue, `state.k[task.name] > 3 ? throw("x") : continue()`, about + `task.name is about a task that runs; write arriving.name`},
		{stubs.Enqueue, `hash(task.labels.user) % 2 == 0 ? throw("x") : continue()`, about + `task.labels["user"] is about a task that runs; write arriving.labels["user"]`},
		{stubs.Enqueue, `task.cancelled ? throw("x") : continue()`, about + "task.cancelled" + later},
		{stubs.Enqueue, `any(task.stack, # == "a") ? throw("x") : continue()`, about + "task.stack" + later},
		{stubs.Enqueue | stubs.Start, `task.priority < 0 ? throw("x") : continue()`,
			about + "task.priority is about a task that runs; make two policies of it; the one on enqueue reads arriving.*"},
		{stubs.Enqueue, `rank(-task.priority)`, `on enqueue rank() orders the arriving task, and task.priority is about a task that runs; write arriving.priority`},
		{stubs.Enqueue, `task.priority < 0 ? background() : continue()`, `on enqueue background() moves the arriving task, and task.priority is about a task that runs; write arriving.priority`},

		{stubs.Enqueue, `task.name == "a" and arriving.name != "" ? throw("x") : continue()`, about + `task.name is about a task that runs; write arriving.name`},
		{stubs.Enqueue, `task.name == "a" ? throw("x") : set("k", arriving.name, 1)`, about + `task.name is about a task that runs; write arriving.name`},
		{stubs.Enqueue, `hash(task.labels.user) % 100 < state.n and "" != arriving.labels.user ? throw("x") : continue()`, about + `task.labels["user"] is about a task that runs; write arriving.labels["user"]`},
		{stubs.Enqueue, `task.cancelled ? throw("x") : rank(arriving.priority < 0 ? 1 : 0)`, about + "task.cancelled" + later},

		{stubs.Enqueue, `let one = arriving.name; task.name == "backup" and one == "restore" ? throw("x") : continue()`, ""},
		{stubs.Enqueue, `state.k[arriving.name] > 3 and task.name == "a" ? throw("x") : continue()`, ""},
		{stubs.Enqueue, `rank(task.priority - arriving.priority)`, ""},
		{stubs.Enqueue, `arriving.priority < task.priority ? throw("x") : continue()`, ""},
		{stubs.Enqueue, `task.elapsed > duration("1s") and arriving.priority < 0 ? throw("x") : continue()`, ""},
		{stubs.Enqueue, `task.priority < 0 ? switch() : queue.length > 9 ? throw("x") : continue()`, ""},
		{stubs.Enqueue, `arriving.name == "a" ? throw("x") : continue()`, ""},
		{stubs.Start, `task.name == "a" ? throw("x") : continue()`, ""},
	} {
		if got := warning(t, policy.Spec{On: policy.On(c.on), Expr: c.expr}); got != c.want {
			t.Errorf("%v: %s\n got %s\nwant %s", c.on, c.expr, got, c.want)
		}
	}
}

// Names that are each used twice in the next do not double the work.
func TestChainsOfNames(t *testing.T) {
	chain := "let x0 = task.priority + state.n;\n"
	for i := range 60 {
		chain += fmt.Sprintf("let x%d = x%d + x%d;\n", i+1, i, i)
	}
	s := policy.Spec{On: policy.On(stubs.Enqueue), Expr: chain + `x60 > 3 ? throw("x") : set("n", x60)`}
	if got := warning(t, s); !strings.Contains(got, "throw() refuses the arriving task, and task.priority") {
		t.Error(got)
	}
	for _, end := range []string{`rank(x60)`, `x60 > x59 ? rank(-x60) : rank(x60)`, `chance(float(x60)) ? throw("x") : continue()`, `x60 > 3 ? add("n", x60) : set("n", max(1, state.n + x60))`} {
		up, down := on(stubs.Enqueue, strings.ReplaceAll(chain, "task.priority", "arriving.priority")+end), on(stubs.Ends, chain+`x60 > 9 ? add("n", -x60) : add("n", -1)`)
		flows(members(t, declared, up, down))
	}
	flows(members(t, declared, s))
}

// A switch of tasks that cannot be suspended does nothing.
func TestIdleSwitch(t *testing.T) {
	const nothing = "switch() does nothing: it suspends tasks of the kinds preemptible and both, and the kind is "
	kinds := func(names ...string) policy.Match { return policy.Match{Kinds: names} }
	for _, c := range []struct {
		on    stubs.Event
		match policy.Match
		cond  string
		want  string
	}{
		{stubs.Start, kinds("atomic"), `queue.length > 3`, nothing + `"atomic" here`},
		{stubs.Start, kinds("atomic", "safe"), `queue.length > 3`, nothing + `"atomic" or "safe" here`},
		{stubs.Start, policy.Match{}, `task.kind == "safe"`, nothing + `"safe" here`},
		{stubs.Enqueue, policy.Match{}, `task.kind == "atomic"`, nothing + `"atomic" here`},
		{stubs.Start, kinds("both", "safe"), `task.kind != "both"`, nothing + `"safe" here`},
		{stubs.Start, kinds("both", "safe"), `queue.length > 3`, ""},
		{stubs.Start, policy.Match{}, `task.kind != "both"`, ""},
		{stubs.Enqueue, kinds("safe"), `queue.length > 3`, ""}, // of the arriving task
	} {
		got := warning(t, policy.Spec{On: policy.On(c.on), Match: c.match, Expr: c.cond + ` ? switch() : continue()`})
		if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%v, %v: %s\n got %s\nwant %s", c.on, c.match, c.cond, got, c.want)
		}
	}
}

// A task has not run when it starts, nor when it leaves without a start.
func TestUnrunTasks(t *testing.T) {
	for _, c := range []struct {
		on   stubs.Event
		cond string
		want string
	}{
		{stubs.Start, `task.running > duration("1s")`, `task.running > duration("1s") is always false: task.running is 0s to 1ms here; a task has not run yet on start`},
		{stubs.Start, `task.sections["a"] > duration("1s")`, `task.sections["a"] > duration("1s") is always false`},
		{stubs.Leave | stubs.Start, `task.preemptions > 0`, `task.preemptions > 0 is always false: task.preemptions is always 0 here; a task has not run yet on start+leave`},
		{stubs.Start, `task.waited > duration("1s")`, ""},
		{stubs.Start | stubs.Unblock, `task.running > duration("1s")`, ""},
		{stubs.Exit, `task.running > duration("1s")`, ""},
	} {
		got := warning(t, policy.Spec{On: policy.On(c.on), Expr: c.cond + ` ? set("n", 1) : continue()`})
		if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%v: %s\n got %s\nwant %s", c.on, c.cond, got, c.want)
		}
	}
}

// A policy of one custom event sees no other name.
func TestOtherEvent(t *testing.T) {
	for cond, want := range map[string]string{
		`event.name == "snow"`:                  `event.name == "snow" is always false: event.name is "rain" here; the policy is evaluated on that event alone`,
		`event.name in pattern("s*")`:           `event.name in pattern("s*") is always false; the policy is evaluated on that event alone`,
		`event.name == "rain"`:                  `event.name == "rain" is always true`,
		`event.value > 3`:                       "",
		`event.name == "snow" or loop.busy < 0`: `event.name == "snow" is always false`,
	} {
		got := warning(t, policy.Spec{On: policy.OnCustom("rain"), Expr: cond + ` ? throw("x") : continue()`})
		if (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", cond, got, want)
		}
	}
	if got := warning(t, policy.Spec{On: policy.On(stubs.Custom), Expr: `event.name == "snow" ? throw("x") : continue()`}); got != "" {
		t.Errorf("of all events: %s", got)
	}
}

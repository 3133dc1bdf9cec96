package cocoon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// Warnings are logged when a policy comes into force, and not again when it stays.
func TestWarningsAreLogged(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	has := func(want string, times int) {
		t.Helper()
		rt.log.flush()
		if n := log.count(want); n != times {
			t.Errorf("%d lines with %s, want %d:\n%s", n, want, times, &log)
		}
	}
	r := register(t, rt, Policy{Name: "odd", On: OnEnqueue, Expr: `let x = 3; queue.length >= 0 ? throw("x") : continue()`})
	has(`policy=odd warnings="[policy.expr:1:5: nothing uses x; remove the let policy.expr:1:12: queue.length >= 0 is always true: queue.length is 0 or more here]"`, 1)
	must(t, r.SetMode(Observe))
	register(t, rt, Policy{Name: "good", On: OnEnqueue, Expr: `queue.length > 3 ? throw("x") : continue()`})
	has("warnings=", 1)
	must(t, r.Update(Policy{On: OnEnqueue, Match: Match{Tasks: []string{"a"}}, Expr: `arriving.name == "b" ? throw("x") : continue()`}))
	has(`arriving.name == \"b\" is always false: arriving.name is \"a\" here; match lets no other tasks through`, 1)
	register(t, rt, Policy{Name: "rank", On: OnEnqueue, Expr: `rank(1)`})
	has("warnings=", 2)
	load(t, rt, "order: priority")
	has(`policy=rank warnings="[policy.expr:1:1: the policy \"order\" ranks the same tasks`, 1)
	load(t, rt, `policies: [{name: ranks, on: enqueue, expr: 'rank(2)'}]`)
	has("warnings=", 4)
	has(`policy=ranks warnings="[document:2:46: policy \"ranks\": the policy \"order\" ranks the same tasks`, 1)
}

// Warnings about the declarations of a document are logged when it comes into force, and not again
// while they stay.
func TestDeclarationsAreJudged(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	file := filepath.Join(t.TempDir(), "declared.yaml")
	for i, c := range []struct {
		text string
		want map[string]int // lines
	}{
		{"tasks: {GET /a: safe, GET /orders: {priority: 1}}", map[string]int{"warnings=": 0}},
		{"tasks: {default: waits, GET /orders: {priority: 1}}", map[string]int{"warnings=": 1, file + `:2:9: task \"default\": all tasks without an entry of their own are declared to wait`: 1}},
		{"tasks: {default: waits, GET /orders: {labels: {tier: g\u043eld}}}", map[string]int{"warnings=": 2, "are declared to wait": 1, "U+043E": 1}},
		{"tasks: {GET /orders: {priority: 1}}\nlimits: [{func: GET /ordres, limit: 1s}]", map[string]int{"warnings=": 3, `did you mean \"GET /orders\"`: 1}},
		{"never-unwind: [regexp/...]", map[string]int{"warnings=": 3}},
		{"limits: [{func: regexp.Compile, limit: 1s}]\nnever-unwind: [regexp.MatchString]", map[string]int{"warnings=": 3}},
		{"limits: [{func: regexp.Compile, limit: 1s}]\nnever-unwind: [regexp/...]", map[string]int{"warnings=": 4, `never-unwind keeps \"regexp.Compile\"`: 1}},
		{"limits: [{func: regexp.Compile, limit: 2s}]\nnever-unwind: [regexp/...]", map[string]int{"warnings=": 4}},
		{"tasks: {GET /events: waits}\npreemption: {every: 1ms}", map[string]int{"warnings=": 4}},
	} {
		must(t, os.WriteFile(file, []byte("version: 1\n"+c.text+"\n"), 0o600))
		must(t, rt.LoadPolicyFile(file))
		rt.log.flush()
		for want, times := range c.want {
			if n := log.count(want); n != times {
				t.Errorf("%d: %d lines with %s, want %d:\n%s", i, n, want, times, &log)
			}
		}
	}
}

// The modes of a document's policies that decide nothing are logged when they change.
func TestIdleModesAreLogged(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	file := filepath.Join(t.TempDir(), "modes.yaml")
	const line = "policies of the document decide nothing"
	for i, c := range []struct {
		text, want string
		times      int
	}{
		{"limits: [{func: a, limit: 1s}]", line, 0},
		{"limits: [{func: a, limit: 1s, mode: off}]", `observe=[] off="[limit of \"a\"]"`, 1},
		{"limits: [{func: a, limit: 2s, mode: off}]", line, 1},
		{"mode: observe\nlimits: [{func: a, limit: 2s}]", `observe="[limit of \"a\"]" off=[]`, 1},
		{"limits: [{func: a, limit: 2s}]", line, 2},
	} {
		must(t, os.WriteFile(file, []byte("version: 1\n"+c.text+"\n"), 0o600))
		must(t, rt.LoadPolicyFile(file))
		rt.log.flush()
		if n := log.count(c.want); n != c.times {
			t.Errorf("%d: %d lines with %s, want %d:\n%s", i, n, c.want, c.times, &log)
		}
	}
}

// Warnings and throws of a limit say where its document declares it, and not a place in an
// expression that no one has written.
func TestLimitsAreNamedByTheirDocument(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	file := filepath.Join(t.TempDir(), "limits.yaml")
	must(t, os.WriteFile(file, []byte("version: 1\ntasks: {reports: atomic}\nlimits:\n  - {func: report, limit: 5us}\n"), 0o600))
	must(t, rt.LoadPolicyFile(file))
	rt.log.flush()
	if want := file + `:4:5: limit of \"report\": nothing else names \"report\"; did you mean \"reports\"?`; log.count(want) != 1 {
		t.Errorf("want %s:\n%s", want, &log)
	}
	err := rt.Run(background, "report", func(ctx context.Context) error {
		for {
			SafePoint(ctx)
		}
	})
	var thrown *PreemptedError
	if !errors.As(err, &thrown) {
		t.Fatal(err)
	}
	if b, ok := thrown.Branch(); !ok || b.File != file || b.Line != 4 || b.Column != 5 {
		t.Errorf("decided at %v", b)
	}
}

// A condition that a loop's number of slots decides is logged when the policy comes into force, or
// when the loop is made.
func TestTooFewSlotsAreLogged(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 3, Logger: log.logger()})
	has := func(want string, times int) {
		t.Helper()
		rt.log.flush()
		if n := log.count(want); n != times {
			t.Errorf("%d lines with %s, want %d:\n%s", n, want, times, &log)
		}
	}
	const two = `policy=spare warnings="[policy.expr:1:1: loop.busy >= loop.slots - 2 is always true on the loop \"two\", which has 2 slots`
	register(t, rt, Policy{Name: "spare", On: OnEnqueue, Expr: `loop.busy >= loop.slots - 2 ? throw("x") : continue()`})
	has("warnings=", 0)
	_, err := rt.NewLoop(LoopConfig{Name: "two", Slots: 2})
	must(t, err)
	has(two, 1)
	_, err = rt.NewLoop(LoopConfig{Name: "more", Slots: 8})
	must(t, err)
	has("warnings=", 1)
	register(t, rt, Policy{Name: "busy", On: OnEnqueue, Match: Match{Loops: []string{"two"}}, Expr: `loop.busy > 3 and queue.length > 9 ? throw("x") : continue()`})
	has(`policy=busy warnings="[policy.expr:1:1: loop.busy > 3 is always false on the loop \"two\", which has 2 slots`, 1)
	has("warnings=", 2)
}

// States that no policy writes are logged once, a minute after the first task.
func TestIdleStatesAreLogged(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	load(t, rt, "states: {late: false, limit: 3, used: 0, unused: 0}")
	load(t, rt, `policies: [{name: p, on: enqueue, expr: 'state.late and state.used > state.limit ? throw("x") : add("used", 1)'}]`)
	must(t, rt.Run(background, "a", idle))
	for range 2 {
		must(t, rt.Run(background, "a", idle))
		now := notify.Now()
		rt.unmetAt.Store(now)
		rt.timer.WakeAt(now)
		eventually(t, "the look", func() bool { return rt.unmetAt.Load() == 0 && strings.Contains(log.String(), "states=") })
		rt.log.flush()
		if n := log.count(`states="[late unused]"`); n != 1 {
			t.Errorf("%d lines:\n%s", n, &log)
		}
	}
}

// Warnings about what one policy writes for another wait until all policies may be there. A state
// that policies write and that a task reads is not idle.
func TestFlowsAreLogged(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	load(t, rt, "states: {n: 0, seen: false, shown: false}")
	must(t, rt.Run(background, "a", idle))
	register(t, rt, Policy{Name: "up", On: OnEnqueue, Expr: `state.n >= 1000 ? throw("x") : add("n", 1)`})
	register(t, rt, Policy{Name: "down", On: OnExit, Expr: `add("n", -1); set("seen", true); set("shown", true)`})
	rt.StateBool("shown")
	rt.log.flush()
	if n := log.count("warnings="); n != 0 {
		t.Errorf("%d lines before the policies are complete:\n%s", n, &log)
	}
	for range 2 {
		now := notify.Now()
		rt.unmetAt.Store(now)
		rt.timer.WakeAt(now)
		eventually(t, "the look", func() bool { return rt.unmetAt.Load() == 0 && strings.Contains(log.String(), "warnings=") })
		rt.log.flush()
	}
	for want, times := range map[string]int{
		"policy=down warnings=\"[policy.expr:1:1: the state n goes up on enqueue and down on exit: a task that ends while it waits stays counted": 1,
		"no policy and no task has read them\" states=[seen]": 1,
	} {
		// The look is over some time after unmetAt says so.
		eventually(t, want, func() bool { rt.log.flush(); return log.count(want) > 0 })
		if n := log.count(want); n != times {
			t.Errorf("%d lines with %s:\n%s", n, want, &log)
		}
	}
}

// Policies are judged in the order in which they are evaluated, not by their names.
func TestFlowsInOrder(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	load(t, rt, "states: {n: 0}")
	register(t, rt, Policy{Name: "b-refuses", On: OnEnqueue, Expr: `queue.length > 9 ? throw("full") : continue()`})
	register(t, rt, Policy{Name: "a-counts", On: OnEnqueue, Expr: `state.n >= 1000 ? throw("x") : add("n", 1)`})
	register(t, rt, Policy{Name: "c-counts", On: Trigger{Events: stubs.Ends}, Expr: `add("n", -1)`})
	look := func(done func() bool) {
		t.Helper()
		must(t, rt.Run(background, "a", idle))
		now := notify.Now()
		rt.unmetAt.Store(now)
		rt.timer.WakeAt(now)
		eventually(t, "the look", func() bool { rt.log.flush(); return rt.unmetAt.Load() == 0 && done() })
	}
	look(func() bool { return true })
	register(t, rt, Policy{Name: "a-refuses", On: OnEnqueue, Expr: `queue.length > 8 ? throw("full") : continue()`})
	look(func() bool { return log.count(`policy \"a-refuses\" then refuses`) == 1 })
	if n := log.count("counts tasks that"); n != 1 {
		t.Errorf("%d lines:\n%s", n, &log)
	}
}

// A policy that counts custom events is evaluated by each loop: with a second loop, the log says so.
func TestCountsOnSeveralLoopsAreLogged(t *testing.T) {
	for expr, want := range map[string]int{
		`, expr: 'add("n", 1)'`:                                    1,
		`, expr: 'set("n", state.n + 1)'`:                          1,
		`, match: {loops: [default]}, expr: 'add("n", 1)'`:         0,
		`, expr: 'set("n", 1)'`:                                    0, // the same each time
		`, expr: 'add("n", queue.length)'`:                         0, // of each loop
		`, state: {m: {first: 0, per: loop}}, expr: 'add("m", 1)'`: 0,
	} {
		var log journal
		rt := start(t, Config{Slots: 1, Logger: log.logger()})
		load(t, rt, "states: {n: 0}\npolicies: [{name: p, event: failed"+expr+"}]")
		rt.log.flush()
		if n := log.count("times for each event"); n != 0 {
			t.Errorf("%s: %d lines with one loop", expr, n)
		}
		_, err := rt.NewLoop(LoopConfig{Name: "bulk", Slots: 1})
		must(t, err)
		rt.log.flush()
		if n := log.count("is carried out 2 times for each event: each loop evaluates the policy"); n != want {
			t.Errorf("%s: %d lines, want %d:\n%s", expr, n, want, &log)
		}
	}
}

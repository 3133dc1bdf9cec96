package cocoon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/notify"
)

// Declarations with patterns apply to names that arrive later and to names that arrived before.
// Only the most precise pattern counts.
func TestDeclaredByPattern(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	f := newPolicyFile(t)
	const see = "states: {priority: 0, gold: false}\n" +
		`policies: [{name: see, on: start, expr: 'set("priority", task.priority); set("gold", task.labels.tenant == "gold")'}]` + "\n"
	check := func(name string, priority int64, gold bool, kind Kind) {
		t.Helper()
		must(t, rt.Run(background, name, idle))
		if rt.State("priority") != priority || rt.State("gold") != gold || Kind(rt.classOf(name).kind.Load()) != kind {
			t.Errorf("%s: %v, %v, %v; want %v, %v, %v", name, rt.State("priority"), rt.State("gold"), rt.classOf(name).kind.Load(), priority, gold, kind)
		}
	}
	must(t, f.load(t, rt, see))
	check("GET /admin/early", 0, false, Atomic)
	must(t, rt.RegisterSafeFunc("GET /admin/safe"))
	must(t, f.load(t, rt, see+`tasks:
  GET /admin/*: {priority: 5, kind: preemptible, labels: {tenant: gold}}
  GET /admin/users/*: {priority: 6}
  GET /admin/health: {priority: 7, kind: safe}
  GET /files/\*: {priority: 8}
  default: {priority: 1, kind: atomic}
  never*: safe
`))
	for range 2 {
		check("GET /admin/early", 5, true, Preemptible)
		check("GET /admin/late", 5, true, Preemptible)
		check("GET /admin/safe", 5, true, Preemptible|Safe)
		check("GET /admin/users/7", 6, false, Atomic)
		check("GET /admin/health", 7, false, Safe)
		check("GET /files/*", 8, false, Atomic)
		check("GET /files/a", 1, false, Atomic)
		rt.naming.classCount.Store(2 * maxClasses) // names that are not stored obey as well
	}
	check("GET /admin/no room", 5, true, Preemptible)
	if got, want := rt.Stats().Unmet, []string{"never*"}; !slices.Equal(got, want) {
		t.Errorf("unmet: %q; want %q", got, want)
	}
	must(t, rt.Run(background, "GET /admin/a", func(ctx context.Context) error {
		inside := idle
		for i := range 10 { // nested tasks of one pattern inherit one list
			next := inside
			inside = func(ctx context.Context) error {
				n := 0
				for a := TaskOf(ctx).attrs; a != nil; a = a.next {
					n++
				}
				if n != 2 {
					t.Errorf("%d attributes", n)
				}
				return rt.Run(ctx, fmt.Sprint("GET /admin/", i), next)
			}
		}
		return inside(ctx)
	}))
	if err := rt.LoadPolicies(strings.NewReader("version: 1\ntasks: {GET /admin/*: safe}\n")); !errors.Is(err, ErrDuplicate) {
		t.Errorf("the same pattern in another document: %v", err)
	}
	must(t, f.load(t, rt, see))
	check("GET /admin/early", 0, false, Atomic)
	check("GET /admin/safe", 0, false, Safe)
	if _, _, ok := rt.naming.byName.Of("GET /admin/late"); ok || len(rt.naming.declared) != 0 {
		t.Errorf("left: %v", rt.naming.declared)
	}
}

// matching are policies that throw into the tasks that they match. The reason is the policy's name.
func matching(policies ...string) string {
	var b strings.Builder
	b.WriteString("policies:\n")
	for _, p := range policies {
		name, match, _ := strings.Cut(p, ": ")
		fmt.Fprintf(&b, "- {name: %s, on: start, match: {%s}, expr: 'throw(%q)'}\n", name, match, name)
	}
	return b.String()
}

// reasonOf runs a task, and returns the reason of the throw into it, or "".
func reasonOf(t *testing.T, rt *Runtime, ctx context.Context, name string) string {
	t.Helper()
	err := rt.Run(ctx, name, idle)
	if err == nil {
		return ""
	}
	return preemption(t, err).Reason
}

// Policies match patterns, with exceptions, and default matches every name without another match.
func TestMatchByPattern(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	f := newPolicyFile(t)
	must(t, rt.Run(background, "GET /admin/early", idle))
	must(t, f.load(t, rt, matching(
		"admin: tasks: [GET /admin/*], except: [GET /admin/health, '*/secret/*']", "job: tasks: [job, 'GET /secret/\\*']", "rest: tasks: [default]")))
	for name, want := range map[string]string{
		"GET /admin/early": "admin", "GET /admin/": "admin", "GET /admin/a/b": "admin", "GET /admin/health": "",
		"GET /admin/secret/a": "admin", "GET /a": "rest", "": "rest", "job": "job", "jobs": "rest", "GET /secret/*": "job", "GET /secret/a": "rest",
	} {
		for range 2 {
			if got := reasonOf(t, rt, background, name); got != want {
				t.Errorf("%s: thrown into by %q; want %q", name, got, want)
			}
		}
	}
	if got := rt.Stats().Unmet; len(got) != 0 {
		t.Errorf("unmet: %q", got)
	}
	for i := range longtest.Count(300, 60) { // a policy out of force leaves no slot behind
		flips := []string{"flip*", "flop*"}[i%2]
		must(t, f.load(t, rt, matching(fmt.Sprintf("p: tasks: ['%d-*']", i), "q: tasks: [keep*]", "r: tasks: ["+flips+"]")))
		if got, want := reasonOf(t, rt, background, "flipper"), []string{"r", ""}[i%2]; got != want {
			t.Fatalf("the same name under %s: %q", flips, got)
		}
		name := fmt.Sprint(i, "-x")
		if got := reasonOf(t, rt, background, name); got != "p" {
			t.Fatalf("%s: %q", name, got)
		}
		if got := reasonOf(t, rt, background, fmt.Sprint(i-1, "-x")) + reasonOf(t, rt, background, "keeper"); got != "q" {
			t.Fatalf("after %s: %q", name, got)
		}
	}
	if n := len(*rt.naming.selectors.Load()); n > 16 {
		t.Errorf("%d selectors", n)
	}
	must(t, f.load(t, rt, ""))
	if n := len(*rt.naming.selectors.Load()); n != 0 {
		t.Errorf("%d selectors without policies", n)
	}
}

// A time limit with a pattern applies to sections and to tasks. Tasks without a match do not wake
// the timer.
func TestLimitByPattern(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	load(t, rt, "limits: [{func: 'GET /slow/*', limit: 20ms}, {func: 'json.*', limit: 10ms}, {func: default, limit: 30ms}, {func: job, limit: 1h}]")
	inSection := func(ctx context.Context) error {
		_, err := Section(ctx, "json.Decode", func() (int, error) { return 0, spinForever(ctx) })
		return err
	}
	for _, c := range []struct {
		name, section, policy string
		fn                    func(context.Context) error
	}{
		{"GET /slow/a", "", "time-limit/GET_/slow/", spinForever},
		{"job", "json.Decode", "time-limit/json.", inSection},
		{"other", "", "time-limit/default", spinForever},
	} {
		pe := preemption(t, rt.Run(background, c.name, c.fn))
		if pe.Section != c.section || !strings.HasPrefix(pe.Policy, c.policy[:14]) {
			t.Errorf("%s: %v by %s", c.name, pe, pe.Policy)
		}
	}
	lead := func(name string) int64 { return rt.Loop().leads.Load().lead(rt, rt.classOf(name), Atomic) }
	if got := time.Duration(lead("GET /slow/b")); got < 10*time.Millisecond || got > 21*time.Millisecond {
		t.Errorf("the timer comes for a slow request after %v", got)
	}
	other := start(t, Config{Slots: 1})
	load(t, other, "limits: [{func: 'GET /slow/*', limit: 20ms}]\npolicies: [{name: p, every: 1ms, expr: 'task.name in pattern(\"a*\") and task.running > duration(\"5ms\") ? throw(\"x\") : continue()'}]")
	for name, want := range map[string]time.Duration{"GET /slow/a": 20*time.Millisecond + 1, "abc": 5*time.Millisecond + 1, "other": notify.Never} {
		if got := time.Duration(other.Loop().leads.Load().lead(other, other.classOf(name), Atomic)); got != want {
			t.Errorf("the timer comes for %s after %v; want %v", name, got, want)
		}
	}
}

// Patterns in expressions apply to the values of stubs, with and without a task.
func TestPatternsOfStubs(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterTenants(Tenants{Label: "tenant"}))
	stubs := map[string]string{
		"task.name": "GET /*", "task.labels.path": "/admin/*", "task.section": "json.*", "tenant.name": "g*d", "loop.name": "def*", "event.name": "ra*",
	}
	for stub, pattern := range stubs {
		load(t, rt, fmt.Sprintf("states: {%[1]s: false, %[1]s_not: false}\npolicies:\n- name: %[1]s\n  event: rain\n  expr: 'set(\"%[1]s\", %[2]s in pattern(%[3]q)); set(\"%[1]s_not\", %[2]s in pattern(\"*-*\"))'\n",
			strings.ReplaceAll(stub, ".", "_"), stub, pattern))
	}
	load(t, rt, "states: {sections: 0s, arriving: false}\npolicies:\n- {name: sections, event: rain, expr: 'set(\"sections\", task.sections[pattern(\"json.*\")])'}\n"+
		`- {name: arriving, on: enqueue, expr: 'set("arriving", arriving.name in pattern("GET /*") and arriving.labels.path in pattern("/admin/*"))'}`)
	ctx := WithLabel(WithLabel(background, "tenant", "gold"), "path", "/admin/"+strings.Repeat("x", 3000))
	must(t, rt.Run(ctx, "GET /items", func(ctx context.Context) error {
		_, err := Section(ctx, "json.Decode", func() (int, error) {
			work(time.Millisecond)
			rt.Notify("rain", 1)
			return 0, nil
		})
		return err
	}))
	for stub := range stubs {
		name := strings.ReplaceAll(stub, ".", "_")
		if rt.State(name) != true || rt.State(name+"_not") != false {
			t.Errorf("%s: %v, %v", stub, rt.State(name), rt.State(name+"_not"))
		}
	}
	if rt.State("arriving") != true || rt.State("sections").(time.Duration) < time.Millisecond {
		t.Errorf("arriving %v, sections %v", rt.State("arriving"), rt.State("sections"))
	}
	register(t, rt, Policy{Name: "nobody", On: OnEnqueue, Expr: `task.name in pattern("*") and task.section in pattern("*") and task.labels.a in pattern("*") and task.name not in pattern("*a*") ? throw("nobody") : continue()`})
	if got := reasonOf(t, rt, background, "abc"); got != "nobody" {
		t.Errorf("without a running task: %q", got)
	}
}

// Tasks run while patterns change: each task sees the policies in force when it starts.
func TestPatternsUnderLoad(t *testing.T) {
	rt := start(t, Config{Slots: 4})
	load(t, rt, matching("stays: tasks: ['stays/*']"))
	stop := make(chan struct{})
	var all sync.WaitGroup
	for g := range 3 {
		all.Go(func() {
			for i := 0; !closed(stop); i++ {
				if got := reasonOf(t, rt, background, fmt.Sprintf("stays/%d/%d", g, i%50)); got != "stays" {
					t.Errorf("it was thrown into by %q", got)
					return
				}
				if got := reasonOf(t, rt, background, fmt.Sprintf("free/%d", i%50)); got != "" {
					t.Errorf("another was thrown into by %q", got)
					return
				}
			}
		})
	}
	for i := range longtest.Count(100, 20) {
		r := register(t, rt, Policy{Name: "comes", On: OnStart, Match: Match{Tasks: []string{fmt.Sprintf("comes/%d/*", i)}}, Expr: `task.name in pattern("*/x") ? throw("comes") : continue()`})
		if got := reasonOf(t, rt, background, fmt.Sprintf("comes/%d/x", i)); got != "comes" {
			t.Errorf("the new one: %q", got)
		}
		r.Cancel()
		if got := reasonOf(t, rt, background, fmt.Sprintf("comes/%d/x", i)); got != "" {
			t.Errorf("the old one: %q", got)
		}
	}
	close(stop)
	all.Wait()
}

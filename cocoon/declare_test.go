package cocoon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// load loads a document without its first line.
func load(t testing.TB, rt *Runtime, document string) {
	t.Helper()
	must(t, rt.LoadPolicies(strings.NewReader("version: 1\n"+document)))
}

// seen is a runtime with policies that record what they see of arriving and of starting tasks.
func seen(t testing.TB) *Runtime {
	rt := start(t, Config{Slots: 1})
	load(t, rt, `
states: {priority: 0, cost: 0s, gold: false, here: false, started: 0}
policies:
  - name: arriving
    on: enqueue
    expr: |
      set("priority", arriving.priority); set("cost", arriving.cost);
      set("gold", arriving.labels["tenant"] == "gold"); set("here", arriving.labels.place == "here")
  - {name: started, on: start, expr: 'set("started", task.priority)'}
`)
	return rt
}

// Priority, labels and cost of a name come from the document, unless the context gives others.
func TestDeclaredClass(t *testing.T) {
	rt := seen(t)
	load(t, rt, `
tasks:
  GET /items/{id}: {kind: both, priority: 7, cost: 3ms, labels: {tenant: gold, place: here}}
  child: {priority: 0, labels: {place: there}}
  kind only: safe
`)
	const route = "GET /items/{id}"
	label := func(value string) context.Context { return WithLabel(background, "tenant", value) }
	inside := func(name string) func(context.Context) error {
		return func(ctx context.Context) error { return rt.Run(ctx, name, idle) }
	}
	for _, c := range []struct {
		what   string
		ctx    context.Context
		name   string
		fn     func(context.Context) error
		number int64
		cost   time.Duration
		labels string // gold, here
	}{
		{"as declared", background, route, idle, 7, 3 * time.Millisecond, "true true"},
		{"another name", background, "GET /items/", idle, 0, 0, "false false"},
		{"kind only", background, "kind only", idle, 0, 0, "false false"},
		{"a given priority", WithPriority(background, -2), route, idle, -2, 3 * time.Millisecond, "true true"},
		{"a priority of 0", WithPriority(background, 0), route, idle, 0, 3 * time.Millisecond, "true true"},
		{"a given label", label("silver"), route, idle, 7, 3 * time.Millisecond, "false true"},
		{"an empty label", label(""), route, idle, 7, 3 * time.Millisecond, "true true"},
		{"two labels", WithLabel(label("silver"), "tenant", "gold"), "kind only", idle, 0, 0, "true false"},
		{"a given cost", WithCost(background, time.Second), route, idle, 7, time.Second, "true true"},
		{"inherited", background, route, inside("kind only"), 7, 0, "true true"},
		{"inherited, declared", background, route, inside("child"), 0, 0, "true false"},
		{"inherited, given", WithPriority(background, 9), route, inside("child"), 9, 0, "true false"},
		{"recursion", background, route, inside(route), 7, 3 * time.Millisecond, "true true"},
	} {
		for how, run := range map[string]func(context.Context, string, func(context.Context) error) error{
			"run": rt.Run,
			"go": func(ctx context.Context, name string, fn func(context.Context) error) error {
				return rt.Go(ctx, name, fn).Wait(ctx)
			},
		} {
			must(t, run(c.ctx, c.name, c.fn))
			got := fmt.Sprint(rt.State("gold"), rt.State("here"))
			if rt.State("priority") != c.number || rt.State("started") != c.number || got != c.labels {
				t.Errorf("%s, %s: priority %v, as it started %v, labels %s; want %d, %s", c.what, how, rt.State("priority"), rt.State("started"), got, c.number, c.labels)
			}
			if cost := rt.State("cost"); c.cost != 0 && cost != c.cost || c.cost == 0 && cost == 3*time.Millisecond {
				t.Errorf("%s, %s: cost %v; want %v", c.what, how, cost, c.cost)
			}
		}
	}
}

// A recursion that inherits what its name declares does not add it again at each level.
func TestDeclaredRecursion(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	load(t, rt, "tasks: {walk: {priority: 1, labels: {a: b}}}")
	length := 0
	var walk func(ctx context.Context, depth int) error
	walk = func(ctx context.Context, depth int) error {
		return rt.Run(ctx, "walk", func(ctx context.Context) error {
			if depth > 0 {
				return walk(ctx, depth-1)
			}
			for a := TaskOf(ctx).attrs; a != nil; a = a.next {
				length++
			}
			return nil
		})
	}
	must(t, walk(WithPriority(background, 3), 50))
	if length != 3 {
		t.Errorf("%d attributes; want 3", length)
	}
}

// A document loaded under load applies to tasks that arrive afterwards.
func TestDeclareUnderLoad(t *testing.T) {
	rt := seen(t)
	until := make(chan struct{})
	var crowd sync.WaitGroup
	for range 4 {
		crowd.Go(func() {
			for !closed(until) {
				rt.Run(WithLabel(background, "place", ""), "job", func(ctx context.Context) error { return rt.Run(ctx, "job", idle) })
			}
		})
	}
	eventually(t, "tasks", func() bool { return rt.Loop().Stats().Ended > 100 })
	load(t, rt, "tasks: {job: {kind: both, priority: 5, labels: {place: here}}}")
	eventually(t, "a declared priority", func() bool { return rt.State("priority") == int64(5) && rt.State("here") == true })
	close(until)
	crowd.Wait()
}

// A label declared by a document names the tenant, and a document can declare background tasks.
func TestDeclaredTenantAndBackground(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1, MaxBypass: -1})
	load(t, rt, `
tenants: {label: tenant, shares: {gold: 3}}
tasks:
  backup: {kind: preemptible, background: true}
  index: {background: true, labels: {tenant: gold}}
`)
	got := startOrder(t, rt, []arrival{{name: "backup"}, {name: "a"}, {name: "index"}, {name: "b", labels: map[string]string{"tenant": "gold"}}})
	if fmt.Sprint(got) != "[a b backup index]" {
		t.Errorf("started in the order %v", got)
	}
	if tenants := rt.Stats().Loops[1].Tenants; tenants["gold"].Ended != 2 {
		t.Errorf("%+v", tenants)
	}
}

// Contradictory declarations are refused, and leave nothing behind.
func TestDeclareRefuses(t *testing.T) {
	for _, c := range []struct{ name, first, second, want string }{
		{"twice", "tasks: {a: {priority: 1}}", "tasks: {a: {cost: 1s}, b: safe}", `: task "a": it is already registered by another document; declare it in one document`},
		{"the same kind twice", "tasks: {a: safe}", "tasks: {a: safe, b: safe}", `: task "a": it is already registered by another document`},
		{"atomic", "tasks: {c: safe}", "tasks: {code: atomic, b: safe}", `: task "code": the document declares atomic, and the kind preemptible is already registered`},
		{"background twice", "tasks: {a: {background: true}}", "tasks: {b: {background: true, kind: safe}}", `policy "background": already registered by code or another document; choose another name, or load the document with LoadPolicyFile`},
		{"a policy", "tasks: {c: safe}", "tasks: {a: safe, b: safe}\npolicies: [{name: p, on: exit, expr: nonsense}]", "nonsense"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1})
			must(t, rt.RegisterPreemptibleFunc("code"))
			load(t, rt, c.first)
			err := rt.LoadPolicies(strings.NewReader("version: 1\n" + c.second))
			if err == nil || !strings.Contains(err.Error(), c.want) || c.name != "a policy" && !errors.Is(err, ErrDuplicate) {
				t.Errorf("error %v; want %s", err, c.want)
			}
			b := rt.classOf("b")
			if b.kind.Load() != 0 || b.declared.Load() != nil {
				t.Error("half-registered")
			}
		})
	}
	rt := start(t, Config{Slots: 1})
	load(t, rt, "tasks: {a: atomic}")
	for _, err := range []error{rt.RegisterSafeFunc(Func{Name: "a", Do: func(context.Context) {}}), rt.RegisterPreemptibleFunc("a")} {
		if !errors.Is(err, ErrDuplicate) {
			t.Errorf("a task that a document calls atomic may be of another kind: %v", err)
		}
	}
	if rt.classOf("a").kind.Load() != 0 || len(rt.funcs) != 0 {
		t.Error("half-registered")
	}
}

// Declarations apply even when the table has no room for a name.
func TestDeclareWithAFullTable(t *testing.T) {
	for _, count := range []int64{maxClasses, 2 * maxClasses} {
		rt := start(t, Config{Slots: 1})
		rt.naming.classCount.Store(count)
		must(t, rt.RegisterSafeFunc("late"))
		must(t, rt.RegisterPreemptibleFunc("late"))
		load(t, rt, "tasks: {later: {priority: 9}}\nstates: {seen: 0, kind: false}\npolicies: "+
			`[{name: p, on: start, match: {tasks: [late, later]}, expr: 'set("seen", task.priority); set("kind", task.kind == "both")'}]`)
		must(t, rt.Run(background, "later", idle))
		if rt.State("seen") != int64(9) || rt.State("kind") != false {
			t.Errorf("%d names: later has the priority %v", count, rt.State("seen"))
		}
		must(t, rt.Run(background, "late", idle))
		if rt.State("seen") != int64(0) || rt.State("kind") != true {
			t.Errorf("%d names: late has the priority %v, and is of kind both: %v", count, rt.State("seen"), rt.State("kind"))
		}
		if got, want := rt.Stats().Unkept == 0, count == maxClasses; got != want {
			t.Errorf("%d names: %d were not kept", count, rt.Stats().Unkept)
		}
	}
}

// A runtime takes no document after Shutdown, not even one without policies.
func TestLoadAfterShutdown(t *testing.T) {
	rt, err := New(Config{Slots: 1})
	must(t, err)
	must(t, rt.Shutdown(background))
	for _, document := range []string{"tasks: {a: safe}", "states: {x: 1}", "policies: [{name: p, on: exit, expr: continue()}]"} {
		if err := rt.LoadPolicies(strings.NewReader("version: 1\n" + document)); !errors.Is(err, ErrShutdown) {
			t.Errorf("%s: error %v; want %v", document, err, ErrShutdown)
		}
	}
	if rt.classOf("a").kind.Load() != 0 || rt.State("x") != nil {
		t.Error("half-registered")
	}
}

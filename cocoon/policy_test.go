package cocoon

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func idle(context.Context) error { return nil }

// Invariants 1 and 2: a policy without a proof is refused, and nothing is half-registered.
func TestHostilePoliciesAreRefused(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"known": 0}))
	for name, p := range map[string]Policy{
		"empty":            {Expr: ""},
		"1 MB":             {Expr: strings.Repeat("true and ", 1<<17) + "true ? throw(\"x\") : continue()"},
		"depth":            {Expr: strings.Repeat("(", 10_000) + "true" + strings.Repeat(")", 10_000) + ` ? throw("x") : continue()`},
		"nots":             {Expr: strings.Repeat("not ", 10_000) + `true ? throw("x") : continue()`},
		"NUL":              {Expr: "task.running > duration(\"1s\") ? throw(\"\x00\") : continue()\x00"},
		"not UTF-8":        {Expr: "\xff\xfe"},
		"unknown state":    {Expr: `set("unknown", 1)`},
		"unknown function": {Expr: `call("os.Exit")`},
		"other function":   {Expr: `now() > 1 ? throw("x") : continue()`},
		"unbounded":        {Expr: `any(0..1000000000, # > 5) ? throw("x") : continue()`},
		"cost":             {Expr: `any(0..600, # > task.preemptions + # * 2) ? throw("x") : continue()`},
		"division":         {Expr: `1 / queue.length > 1 ? throw("x") : continue()`},
		"wrong type":       {Expr: `task.running > 5 ? throw("x") : continue()`},
		"bad name":         {Name: "a b\x00", Expr: `continue()`},
		"long name":        {Name: strings.Repeat("x", 1<<20), Expr: `continue()`},
		"no trigger":       {On: Trigger{Custom: "-"}, Expr: `continue()`},
		"short interval":   {On: Every(time.Nanosecond), Expr: `continue()`},
		"negative":         {On: Every(-time.Second), Expr: `continue()`},
		"mode":             {Mode: 7, Expr: `continue()`},
		"kind":             {Match: Match{Kinds: []string{"strange"}}, Expr: `continue()`},
		"state type":       {State: map[string]any{"s": "text"}, Expr: `continue()`},
		"state NaN":        {State: map[string]any{"s": math.NaN()}, Expr: `continue()`},
		"state shadows":    {State: map[string]any{"known": 1}, Expr: `continue()`},
		"arriving on tick": {Expr: `arriving.name == "x" ? throw("x") : continue()`},
	} {
		t.Run(name, func(t *testing.T) {
			if p.Name == "" {
				p.Name = "hostile"
			}
			if p.On == (Trigger{}) {
				p.On = Every(time.Millisecond)
			}
			r, err := rt.RegisterPolicy(p)
			if err == nil {
				t.Fatalf("registered, cost unknown: %v", r.Warnings())
			}
			if n := len(err.Error()); n > 2000 {
				t.Errorf("the error has %d bytes", n)
			}
			if n := len(rt.Stats().Policies); n != 0 || rt.Loop().leads.Load() != nil {
				t.Errorf("%d policies, or their ticks, after the error %v", n, err)
			}
		})
	}
	register(t, rt, Policy{Name: "hostile", On: OnStart, Expr: `continue()`}) // the name is free
}

// Effects write the states that they name, with their values. Each policy has its own private
// states.
func TestStatesOfPolicies(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"on": false, "n": 1, "r": 0.5, "d": time.Second}))
	register(t, rt, Policy{Name: "write", On: OnNotify("write"), Expr: `set("on", not state.on); set("n", state.n * 2); set("r", state.r / 2.0); set("d", state.d + duration("1s"))`})
	for _, name := range []string{"a", "b"} {
		register(t, rt, Policy{Name: name, On: OnNotify(name), State: map[string]any{"mine": 0}, Expr: `set("mine", state.mine + 1); state.mine == 2 ? set("n", 100) : continue()`})
	}
	rt.Notify("write", 0)
	if rt.State("on") != true || !rt.StateBool("on") || rt.State("n") != int64(2) || rt.State("r") != 0.25 || rt.State("d") != 2*time.Second {
		t.Errorf("%v %v %v %v", rt.State("on"), rt.State("n"), rt.State("r"), rt.State("d"))
	}
	for _, name := range []string{"a", "a", "b", "b"} {
		rt.Notify(name, 0)
	}
	if n := rt.State("n"); n != int64(2) {
		t.Errorf("a private state is shared: %v", n)
	}
	rt.Notify("a", 0)
	if n := rt.State("n"); n != int64(100) {
		t.Errorf("a private state is not kept: %v", n)
	}
	if rt.State("mine") != nil || rt.State("unknown") != nil || rt.StateBool("n") {
		t.Error("a state that is none has a value")
	}
	for name, values := range map[string]map[string]any{"name": {"a b": 1}, "type": {"s": "x"}, "nil": {"s": nil}, "empty": {"": 1}} {
		if err := rt.RegisterState(values); err == nil {
			t.Errorf("%s: registered", name)
		}
	}
}

// Invariant 7: a policy with a failing evaluation changes nothing. The failure is counted, and
// reported once. Repeated failure switches the policy off, and Update switches it on again.
func TestPolicyThatErrs(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	must(t, rt.RegisterState(map[string]any{"n": int64(math.MaxInt64 - 2), "after": false}))
	expr := `set("after", true); set("n", state.n + 1); task.running >= duration("0s") ? throw("x") : continue()`
	r := register(t, rt, Policy{Name: "overflows", On: OnNotify("go"), Expr: strings.Replace(expr, `task.running >= duration("0s") ? throw("x") : continue()`, "continue()", 1)})
	for range 2 {
		rt.Notify("go", 0)
	}
	if st := r.Stats(); st.Errors != 0 || rt.State("n") != int64(math.MaxInt64) {
		t.Fatalf("%+v, %v", st, rt.State("n"))
	}
	for range 20 {
		rt.Notify("go", 0)
	}
	st := r.Stats()
	if st.Errors != 8 || !st.Off || !strings.Contains(st.LastError, "overflow") || st.Evaluations != 10 {
		t.Errorf("%+v", st)
	}
	if n := rt.State("n"); n != int64(math.MaxInt64) {
		t.Errorf("it changed the state to %v", n)
	}
	eventually(t, "the last line", func() bool { return log.count("switched off") == 1 })
	eventually(t, "the first line", func() bool { return log.count("policy erred") == 1 })
	must(t, r.Update(Policy{On: OnNotify("go"), Expr: `set("n", 0)`}))
	rt.Notify("go", 0)
	if st := r.Stats(); st.Off || rt.State("n") != int64(0) {
		t.Errorf("after Update: %+v, %v", st, rt.State("n"))
	}
}

// Only consecutive failures count, and a failing evaluation has no verdict.
func TestFailuresInARow(t *testing.T) {
	rt := start(t, Config{Slots: 1, MaxFailures: 2})
	must(t, rt.RegisterState(map[string]any{"n": int64(math.MaxInt64)}))
	r := register(t, rt, Policy{Name: "some", On: OnNotify(""), Expr: `event.name == "bad" and state.n + 1 > 0 and task.running >= duration("0s") ? throw("x") : continue()`})
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		for range 10 {
			rt.Notify("bad", 0)
			rt.Notify("good", 0)
		}
		for range 100 {
			SafePoint(ctx)
		}
		if st := r.Stats(); st.Off || st.Errors != 10 || st.Throws != 0 {
			t.Errorf("%+v", st)
		}
		rt.Notify("bad", 0)
		rt.Notify("bad", 0)
		return ctx.Err()
	}))
	if st := r.Stats(); !st.Off || st.Errors != 12 {
		t.Errorf("after two in a row: %+v", st)
	}
}

// A refused update keeps the version in force. A valid update replaces it at once.
func TestUpdate(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"v": 0}))
	r := register(t, rt, Policy{Name: "p", On: OnNotify("n"), Expr: `set("v", 1)`})
	if err := r.Update(Policy{On: OnNotify("n"), Expr: `set("v", nonsense)`}); err == nil {
		t.Error("updated")
	}
	if err := r.Update(Policy{Name: "other", On: OnNotify("n"), Expr: `set("v", 2)`}); err == nil {
		t.Error("renamed")
	}
	rt.Notify("n", 0)
	if v := rt.State("v"); v != int64(1) {
		t.Errorf("the old version says %v", v)
	}
	must(t, r.Update(Policy{On: OnNotify("m"), Expr: `set("v", 2)`}))
	rt.Notify("n", 0)
	if v := rt.State("v"); v != int64(1) {
		t.Error("the old trigger is still in force")
	}
	rt.Notify("m", 0)
	if v := rt.State("v"); v != int64(2) || r.Policy().Name != "p" {
		t.Errorf("the new version says %v", v)
	}
}

// Observe mode changes nothing, and counts.
func TestObserveModeChangesNothing(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	must(t, rt.RegisterState(map[string]any{"v": 0}))
	throws := register(t, rt, Policy{Name: "throws", On: OnStart, Mode: Observe, Expr: `set("v", 1); throw("would")`})
	refuses := register(t, rt, Policy{Name: "refuses", On: OnEnqueue, Mode: Observe, Expr: `throw("would")`})
	for range 10 {
		must(t, rt.Run(background, "job", func(ctx context.Context) error { SafePoint(ctx); return ctx.Err() }))
	}
	if st := throws.Stats(); st.WouldThrow != 10 || st.WouldEffect != 10 || st.Throws != 0 || st.Effects != 0 || rt.State("v") != int64(0) {
		t.Errorf("%+v", st)
	}
	if st := refuses.Stats(); st.WouldThrow != 10 || st.Refusals != 0 {
		t.Errorf("%+v", st)
	}
	eventually(t, "a line", func() bool { return log.count("observe mode") >= 2 })
	must(t, throws.Update(Policy{On: OnStart, Expr: `throw("does")`}))
	preemption(t, rt.Run(background, "job", idle))
}

func TestMatch(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterSafeFunc("get"))
	must(t, rt.RegisterPreemptibleFunc("scan"))
	l := newLoopOf(t, rt, "other", 1)
	for name, m := range map[string]Match{
		"all": {}, "loop": {Loops: []string{"other", "later"}}, "task": {Tasks: []string{"get", "none"}},
		"kind": {Kinds: []string{"preemptible"}}, "joined": {Loops: []string{"other"}, Kinds: []string{"safe"}},
	} {
		register(t, rt, Policy{Name: name, On: OnStart, Match: m, State: map[string]any{"n": 0}, Expr: `set("n", state.n + 1)`})
	}
	for _, on := range []*Loop{rt.Loop(), l, newLoopOf(t, rt, "later", 1)} {
		for _, task := range []string{"get", "scan", "job"} {
			must(t, on.Run(background, task, idle))
		}
	}
	for name, want := range map[string]int64{"all": 9, "loop": 6, "task": 3, "kind": 3, "joined": 1} {
		if n := rt.Stats().Policies[name].Evaluations; n != want {
			t.Errorf("%s: %d evaluations; want %d", name, n, want)
		}
	}
}

// interval() changes how often a policy is evaluated from then on.
func TestPolicyChangesItsInterval(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	r := register(t, rt, Policy{Name: "p", On: Every(time.Hour), Expr: `interval(duration("200us"))`})
	if r.Stats().Interval != time.Hour {
		t.Error(r.Stats().Interval)
	}
	must(t, r.Update(Policy{On: Every(time.Millisecond), Expr: `interval(duration("200us"))`}))
	must(t, rt.Run(background, "job", func(context.Context) error {
		eventually(t, "evaluations", func() bool { return r.Stats().Evaluations > 10 })
		return nil
	}))
	if r.Stats().Interval != 200*time.Microsecond {
		t.Error(r.Stats().Interval)
	}
}

// The timer sleeps when no task runs. A policy is evaluated once on the quiet loop, and not again.
// The timer wakes with the next task.
func TestTimerSleepsWhenNothingRuns(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	r := register(t, rt, Policy{Name: "p", On: Every(50 * time.Microsecond), Expr: `queue.length > 1000000 ? cancel() : continue()`})
	blocked, gate := make(chan struct{}), make(chan struct{})
	h := rt.Go(background, "job", func(ctx context.Context) error {
		eventually(t, "evaluations", func() bool { return r.Stats().Evaluations > 10 })
		return Block(ctx, func() error { close(blocked); <-gate; return nil })
	})
	receive(t, "it to block", blocked)
	quiet := func() bool {
		n := r.Stats().Evaluations
		time.Sleep(20 * time.Millisecond)
		return r.Stats().Evaluations == n
	}
	eventually(t, "quiet while a task is blocked", quiet)
	close(gate)
	must(t, h.Wait(background))
	eventually(t, "quiet when it has ended", quiet)
	n := r.Stats().Evaluations
	must(t, rt.Run(background, "job", func(context.Context) error {
		eventually(t, "evaluations", func() bool { return r.Stats().Evaluations > n+10 })
		return nil
	}))
}

// A document registers all of its policies, or none.
func TestLoadPolicies(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	good := `
version: 1
states: {overloaded: false}
tasks: {scan: preemptible, get: safe}
limits: [{func: regex.match, limit: 100ms}]
preemption: {on: enqueue}
policies:
  - {name: shed, every: 1ms, expr: 'queue.length > 100 ? set("overloaded", true) : continue()'}
`
	bad := strings.Replace(good, "queue.length > 100", "queue.nonsense > 100", 1)
	if err := rt.LoadPolicies(strings.NewReader(bad)); err == nil {
		t.Fatal("loaded")
	}
	if st := rt.Stats(); len(st.Policies) != 0 || rt.State("overloaded") != nil || Kind(rt.classOf("scan").kind.Load()) != Atomic || rt.Loop().leads.Load() != nil {
		t.Errorf("half-registered: %v, %v", st.Policies, rt.State("overloaded"))
	}
	must(t, rt.LoadPolicies(strings.NewReader(good)))
	if n := len(rt.Stats().Policies); n != 3 || rt.State("overloaded") != false || Kind(rt.classOf("scan").kind.Load()) != Preemptible {
		t.Errorf("%d policies", n)
	}
	if err := rt.LoadPolicies(strings.NewReader(good)); !errors.Is(err, ErrDuplicate) {
		t.Errorf("loaded twice: %v", err)
	}
	if n := len(rt.Stats().Policies); n != 3 {
		t.Errorf("%d policies", n)
	}
	for name, text := range map[string]string{"empty": "", "NUL": "\x00", "list": "[]", "huge": strings.Repeat("a", 2<<20)} {
		if err := rt.LoadPolicies(strings.NewReader(text)); err == nil && name != "empty" {
			t.Errorf("%s: loaded", name)
		}
	}
}

// Two runtimes of one process are independent.
func TestTwoRuntimes(t *testing.T) {
	a, b := start(t, Config{Slots: 1}), start(t, Config{Slots: 1})
	must(t, a.RegisterState(map[string]any{"s": 1}))
	signal := throwOnSignal(t, a, "job")
	if b.State("s") != nil {
		t.Error("a state is shared")
	}
	must(t, b.Run(background, "job", func(ctx context.Context) error {
		signal()
		for range 1000 {
			SafePoint(ctx)
		}
		preemption(t, a.Run(ctx, "job", func(ctx context.Context) error { signal(); return spinForever(ctx) }))
		return ctx.Err()
	}))
}

package cocoon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// next returns the next decision of a kind.
func next(t testing.TB, r *DecisionReader, kind DecisionKind) Decision {
	t.Helper()
	ctx, cancel := context.WithTimeout(background, patience)
	defer cancel()
	for {
		d, err := r.Next(ctx)
		if err != nil {
			t.Fatalf("no %s: %v", kind, err)
		}
		if d.Kind == kind {
			return d
		}
	}
}

// said describes what a decision was based on.
func said(d Decision) string {
	b, _ := d.Branch()
	s := b.String()
	for _, c := range b.Because {
		s += "; " + c.String()
	}
	for _, v := range d.Values() {
		s += "; " + v.String()
	}
	return s
}

// A refusal says which policy refused which task of which tenant, by which branch of its text, and
// with which values, whether code or a document has registered the policy, and whether it enforces.
func TestDecisionOfARefusal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policies.yaml")
	const expr = `arriving.labels.plan == "free" and state.spent > 2 ? throw("too much", duration("2s")) : continue()`
	write := func(text string) { must(t, os.WriteFile(file, []byte(text), 0o644)) }
	for _, test := range []struct {
		name, where string
		mode        Mode
		register    func(*Runtime) error
	}{
		{"code", "policy.expr:1:54", Enforce, func(rt *Runtime) error {
			_, err := rt.RegisterPolicy(Policy{Name: "shed", On: OnEnqueue, Expr: expr, State: map[string]any{"spent": 3}})
			return err
		}},
		{"document", file + ":7:58", Enforce, func(rt *Runtime) error {
			write("version: 1\npolicies:\n- name: shed\n  on: enqueue\n  state: {spent: 3}\n  expr: |\n    " + expr + "\n")
			return rt.LoadPolicyFile(file)
		}},
		{"observed", file + ":7:63", Observe, func(rt *Runtime) error {
			write("version: 1\npolicies:\n- name: shed\n  mode: observe\n  on: enqueue\n  state: {spent: 3}\n  expr: '" + strings.ReplaceAll(expr, "'", "''") + "'\n")
			return rt.LoadPolicyFile(file)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1})
			must(t, test.register(rt))
			must(t, rt.RegisterTenants(Tenants{Label: "plan"}))
			err := rt.Run(WithLabel(background, "plan", "free"), "GET /x", idle)
			if refused := err != nil; refused != (test.mode == Enforce) {
				t.Fatalf("the task ends with %v", err)
			}
			d := next(t, rt.Decisions(0), DecisionRefusal)
			if d.Policy != "shed" || d.Version != 1 || d.Mode != test.mode || d.Loop != "default" || d.Task != "GET /x" || d.Tenant != "free" ||
				d.Reason != "too much" || time.Since(d.Time) > time.Minute || d.Number == 0 {
				t.Errorf("%+v", d)
			}
			want := test.where + `: throw("too much", duration("2s")); arriving.labels.plan == "free" and state.spent > 2 is true; arriving.labels["plan"]="free"; state.spent=3`
			if got := said(d); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// Each kind of decision is in the stream, in the order in which things happened.
func TestKindsOfDecisions(t *testing.T) {
	rt := start(t, Config{Slots: 1, MaxQueue: 1, MaxFailures: 1, StallAfter: time.Millisecond})
	decisions := rt.Decisions(0)
	expect := func(kind DecisionKind, want string) Decision {
		t.Helper()
		d := next(t, decisions, kind)
		if got := d.String(); got != want {
			t.Errorf("got %s; want %s", got, want)
		}
		return d
	}
	r := register(t, rt, Policy{Name: "limit", On: Every(time.Millisecond), Expr: `task.running > duration("2ms") ? throw("too long") : continue()`})
	expect(DecisionPolicyAdded, `policy-added policy "limit"`)
	must(t, r.SetMode(Observe))
	expect(DecisionMode, `mode policy "limit"`)
	must(t, r.SetMode(Observe)) // is no decision
	must(t, r.Update(Policy{On: Every(time.Millisecond), Expr: `task.section == "part" and task.running > duration("3ms") ? throw("too long") : continue()`}))
	if d := expect(DecisionPolicyUpdated, `policy-updated policy "limit"`); d.Version != 2 {
		t.Errorf("the second version is %d", d.Version)
	}
	var thrown *PreemptedError
	err := rt.Run(background, "long", func(ctx context.Context) error {
		_, err := Section(ctx, "part", func() (int, error) { return 0, spinForever(ctx) })
		return err
	})
	if !errors.As(err, &thrown) || thrown.Version() != 2 {
		t.Fatal(err)
	}
	d := next(t, decisions, DecisionThrow)
	if d.Task != "long" || d.Section != "part" || d.Reason != "too long" || d.Version != 2 || d.Late < 0 || d.Late > patience {
		t.Errorf("%+v", d)
	}
	if values := d.Values(); len(values) != 2 || values[0] != (StubValue{"task.section", "part"}) || values[1].Value.(time.Duration) < 3*time.Millisecond {
		t.Errorf("it read %v", values)
	}
	r.Cancel()
	expect(DecisionPolicyRemoved, `policy-removed policy "limit"`)

	release := taken(t, rt.Loop())
	waiting := rt.Go(background, "waits", idle)
	if d := next(t, decisions, DecisionStall); d.Task != "holder" || d.Late < time.Millisecond {
		t.Errorf("%+v", d)
	}
	release()
	must(t, waiting.Wait(background))

	register(t, rt, Policy{Name: "errs", On: OnEnqueue, State: map[string]any{"n": 1 << 62}, Expr: `add("n", 4611686018427387904)`})
	must(t, rt.Run(background, "task", idle))
	expect(DecisionPolicyOff, `policy-off policy "errs": policy.expr:1:1: integer overflow`)
	must(t, rt.SetMode(Observe))
	expect(DecisionMode, `mode: all policies`)
	if err := rt.LoadPolicies(strings.NewReader("nonsense: 1")); err == nil {
		t.Error("a document that is none was loaded")
	}
	if d := next(t, decisions, DecisionDocumentRefused); !strings.Contains(d.Reason, "nonsense") {
		t.Errorf("%+v", d)
	}
	must(t, rt.LoadPolicies(strings.NewReader("version: 1\nstates: {a: 1}")))
	expect(DecisionDocumentLoaded, `document-loaded`)
}

// A full queue refuses a task without a policy.
func TestDecisionOfAFullQueue(t *testing.T) {
	rt := start(t, Config{Slots: 1, MaxQueue: 1, StallAfter: -1})
	must(t, rt.LoadPolicies(strings.NewReader("version: 1\ntenants: {label: user}")))
	release := taken(t, rt.Loop())
	defer release()
	waits := rt.Go(background, "waits", idle)
	eventually(t, "a task to wait", func() bool { return rt.Stats().Loops[0].Queued == 1 })
	if err := rt.Run(WithLabel(background, "user", "ann"), "one too many", idle); !errors.Is(err, ErrOverloaded) {
		t.Fatal(err)
	}
	d := next(t, rt.Decisions(0), DecisionRefusal)
	if got, want := d.String(), `refusal task "one too many" tenant "ann" loop "default": loop is overloaded`; got != want || d.Values() != nil {
		t.Errorf("got %s; want %s", got, want)
	}
	release()
	must(t, waits.Wait(background))
}

// A switch is in the stream when it took effect, with the verdict that asked for it, once a reader
// watches.
func TestDecisionOfASwitch(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.RegisterPreemptibleFunc("scan"))
	must(t, rt.RegisterSafeFunc("get"))
	register(t, rt, Policy{Name: "turn", On: OnEnqueue, Expr: `task.kind == "preemptible" and arriving.name == "get" ? switch() : continue()`})
	end := make(chan struct{})
	scan := begun(t, rt.Loop(), background, "scan", func(ctx context.Context) error { spin(ctx, end); return nil })
	must(t, rt.Run(background, "get", idle))
	decisions := rt.Decisions(0)
	must(t, rt.Run(background, "get", idle))
	close(end)
	must(t, scan.Wait(background))
	d := next(t, decisions, DecisionSwitch)
	if want := `policy.expr:1:57: switch(); task.kind == "preemptible" and arriving.name == "get" is true; task.kind="preemptible"; arriving.name="get"`; d.Task != "scan" || d.Policy != "turn" || d.Late <= 0 || said(d) != want {
		t.Errorf("%v: %s", d, said(d))
	}
	if st := rt.Policy("turn").Stats(); st.Switches != 2 {
		t.Errorf("%d switches", st.Switches)
	}
	must(t, rt.Shutdown(background))
	if d, err := decisions.Next(background); err != io.EOF {
		t.Errorf("another switch: %v, %v", d, err)
	}
}

// The stream keeps no text of a policy or document that is out of force, and what was decided by it
// says the same as before.
func TestDecisionsOutliveTheirText(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	file := newPolicyFile(t)
	var before []string
	for i := range 5 {
		must(t, file.load(t, rt, fmt.Sprintf("states: {a: %d}\npolicies:\n- {name: no, on: enqueue, expr: 'queue.length >= %d ? throw(\"no\") : continue()'}\n", i, -i)))
		err := rt.Run(background, "job", idle)
		var p *PreemptedError
		if !errors.As(err, &p) {
			t.Fatal(err)
		}
		before = append(before, fmt.Sprintf("%+v", p))
		defer func() {
			if after := fmt.Sprintf("%+v", p); after != before[i] {
				t.Errorf("before %s\nafter  %s", before[i], after)
			}
		}()
	}
	var texts []string
	decisions := rt.Decisions(0)
	for range 5 {
		d := next(t, decisions, DecisionRefusal)
		texts = append(texts, said(d))
		if kept := d.ruling.basis.Load() != nil; kept != (len(texts) == 5) {
			t.Errorf("of decision %d the text is kept: %v", len(texts), kept)
		}
	}
	if want := `: throw("no"); queue.length >= -3 is true; queue.length=`; !strings.Contains(texts[3], want) {
		t.Errorf("%q lacks %s", texts[3], want)
	}
	if len(slices.Compact(texts)) != 5 {
		t.Errorf("%q", texts)
	}
}

// Cancel and Shutdown are in the stream, once for each task: as a throw into a task that has
// started, as a refusal of one that waits.
func TestDecisionsOfCancelAndShutdown(t *testing.T) {
	rt := start(t, Config{StallAfter: -1}) // on a busy machine a task may stall
	// It keeps its slots on a busy machine, too: otherwise a task that waits may start early.
	l, err := rt.NewLoop(LoopConfig{Name: "own", Slots: 2, Exclusive: true})
	must(t, err)
	r := rt.Decisions(Latest)
	spin := func(begun chan struct{}) func(context.Context) error {
		return func(ctx context.Context) error {
			close(begun)
			for {
				SafePoint(ctx)
			}
		}
	}
	childBegun, otherBegun := make(chan struct{}), make(chan struct{})
	parent := l.Go(background, "parent", func(ctx context.Context) error {
		l.Go(ctx, "child", spin(childBegun))
		return Block(ctx, func() error { <-ctx.Done(); return nil })
	})
	l.Go(background, "other", spin(otherBegun))
	<-childBegun
	<-otherBegun
	queued := l.Go(background, "queued", func(context.Context) error { return nil })
	eventually(t, "a task waits", func() bool { return l.Stats().Queued == 1 })
	early := l.Go(background, "early", func(context.Context) error { return nil })
	early.Cancel() // it may not even have arrived
	for range 2 {
		queued.Cancel()
		parent.Cancel()
	}
	ended, cancel := context.WithCancel(background)
	cancel()
	must(t, rt.Shutdown(ended))
	var got []string
	for d := range r.All(background) {
		if d.Policy != "" || d.Loop != "own" {
			t.Errorf("%+v", d)
		}
		got = append(got, fmt.Sprintf("%s %s: %s", d.Kind, d.Task, d.Reason))
	}
	want := []string{"refusal early: cancelled", "refusal queued: cancelled", "throw parent: cancelled",
		"throw parent/child: cancelled with its parent", "throw other: shutdown"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A policy that sets a state to another value makes a decision, with the branch and the values; a
// set of the same value, an addition and a write by key make none.
func TestDecisionOfAState(t *testing.T) {
	for _, mode := range []Mode{Enforce, Observe} {
		rt := start(t, Config{Slots: 1})
		must(t, rt.RegisterState(map[string]any{"crowded": false, "seen": 0, "pause": time.Second, "by": Keyed{First: 0, Keys: 2}}))
		must(t, rt.LoadPolicies(strings.NewReader(`
version: 1
policies:
  - {name: counts, on: enqueue, mode: `+mode.String()+`, expr: 'add("seen", 1); add("by", arriving.name, 1); set("pause", duration("1s"))'}
  - {name: breaker, on: enqueue, mode: `+mode.String()+`, expr: 'set("crowded", arriving.priority > 0 ? true : false)'}
  - {name: choice, on: enqueue, mode: `+mode.String()+`, state: {last: 0.5},
     expr: 'arriving.priority > 1 ? set("last", 1.5) : continue()'}
  - {name: pair, on: enqueue, mode: `+mode.String()+`, state: {low: 9, high: 9},
     expr: '(arriving.priority == 2 ? set("low", 2) : set("low", 9)); arriving.priority > 1 ? set("high", 1) : set("high", 9)'}
`)))
		run := func(priority int32) {
			must(t, rt.Run(WithPriority(WithLabel(background, "tenant", "gold"), priority), "job", idle))
		}
		run(1) // before a reader watches
		run(0)
		decisions := rt.Decisions(Latest)
		for _, priority := range []int32{0, 1, 1, 2, 2, 0} {
			run(priority)
		}
		var got []string
		for d, ok := decisions.read(); ok; d, ok = decisions.read() {
			if d.Kind != DecisionState || d.Task != "job" || d.Mode != mode || d.Version != 1 || d.Loop != rt.Loop().Name() {
				t.Errorf("%+v", d)
			}
			got = append(got, d.Reason+": "+said(d))
		}
		want := []string{
			`state.crowded=true: document:5:56: set("crowded", arriving.priority > 0 ? true : false); arriving.priority=1`,
			`state.last=1.5: document:7:37: set("last", 1.5); arriving.priority > 1 is true; arriving.priority=2`,
			`state.low=2: document:9:39: set("low", 2); arriving.priority == 2 is true; arriving.priority=2`,
			`state.high=1: document:9:95: set("high", 1); arriving.priority > 1 is true; arriving.priority=2`,
			`state.crowded=false: document:5:56: set("crowded", arriving.priority > 0 ? true : false); arriving.priority=0`,
			`state.low=9: document:9:55: set("low", 9); arriving.priority == 2 is false; arriving.priority=0`,
			`state.high=9: document:9:112: set("high", 9); arriving.priority > 1 is false; arriving.priority=0`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

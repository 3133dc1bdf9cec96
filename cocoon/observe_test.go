package cocoon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// A dry run of a bucket says what the bucket would do, whether its tokens are private or
// registered.
func TestObserveSaysWhatEnforceDoes(t *testing.T) {
	for what, text := range map[string]string{
		"private":    "policies: [{name: bucket, on: enqueue, state: {tokens: 5}, expr: 'state.tokens < 1 ? throw(\"rate limit\") : set(\"tokens\", state.tokens - 1)'}]",
		"per loop":   "policies: [{name: bucket, on: enqueue, state: {tokens: {first: 5, per: loop}}, expr: 'state.tokens < 1 ? throw(\"rate limit\") : add(\"tokens\", -1)'}]",
		"registered": "states: {tokens: 5}\npolicies: [{name: bucket, on: enqueue, expr: 'state.tokens < 1 ? throw(\"rate limit\") : add(\"tokens\", -1)'}]",
		"by another": "states: {tokens: 5}\npolicies: [{name: bucket, on: enqueue, expr: 'state.tokens < 1 ? throw(\"rate limit\") : continue()'}, {name: take, on: enqueue, expr: 'add(\"tokens\", -1)'}]",
		"bucket":     "states: {drops: {rate: 0.000001, burst: 5}}\npolicies: [{name: bucket, on: enqueue, expr: 'take(\"drops\", 1) ? continue() : throw(\"rate limit\")'}]",
		"by key":     "states: {drops: {rate: 0.000001, burst: 5, keys: 10}}\npolicies: [{name: bucket, on: enqueue, expr: 'not take(\"drops\", arriving.name, 1) ? throw(\"rate limit\") : continue()'}]",
		"its own":    "policies: [{name: bucket, on: enqueue, state: {drops: {rate: 0.000001, burst: 5, per: loop}}, expr: 'take(\"drops\", 1) ? continue() : throw(\"rate limit\")'}]",
		"counted":    "states: {seen: {first: 0, keys: 10}}\npolicies: [{name: bucket, on: enqueue, expr: 'state.seen[arriving.name] >= 5 ? throw(\"rate limit\") : add(\"seen\", arriving.name, 1)'}]",
		"switches":   "policies: [{name: bucket, on: enqueue, state: {tokens: 5}, expr: 'state.tokens < 1 ? throw(\"rate limit\") : queue.length > 1000 ? switch() : add(\"tokens\", -1)'}]",
	} {
		for _, mode := range []string{"enforce", "observe"} {
			rt := start(t, Config{Slots: 1})
			load(t, rt, "mode: "+mode+"\n"+text+"\n")
			refused := 0
			for range 100 {
				if rt.Run(background, "job", idle) != nil {
					refused++
				}
			}
			st := rt.Stats().Policies["bucket"]
			switch {
			case mode == "enforce" && (refused != 95 || st.Refusals != 95 || st.WouldThrow != 0):
				t.Errorf("%s: enforced: refused %d of 100; %+v", what, refused, st)
			case mode == "observe" && (refused != 0 || st.Refusals != 0 || st.WouldThrow != 95 || st.Mode != Observe):
				t.Errorf("%s: observed: refused %d of 100; %+v", what, refused, st)
			}
			if n := rt.State("tokens"); mode == "observe" && n != nil && n != int64(5) {
				t.Errorf("%s: a dry run has left %v tokens", what, n)
			}
			if n := rt.State("drops"); mode == "observe" && n != nil && n != 5.0 || rt.Stats().States["seen"].Keys > 0 && mode == "observe" {
				t.Errorf("%s: a dry run has left %v tokens, or keys", what, n)
			}
		}
	}
}

// A dry run of a bound of the tasks at once says what the bound would do: a task that it would have
// refused is not counted, and neither taken off when it ends.
func TestObserveCountsLiveTasks(t *testing.T) {
	for what, text := range map[string]string{
		"by one policy": `policies:
  - {name: bound, on: enqueue, expr: 'state.live[arriving.name] >= 3 ? throw("3 at once") : add("live", arriving.name, 1)'}
  - {name: leave, on: [exit, leave], expr: 'add("live", task.name, -1)'}
`,
		"by two policies": `policies:
  - {name: bound, on: enqueue, expr: 'state.live[arriving.name] >= 3 ? throw("3 at once") : continue()'}
  - {name: enter, on: enqueue, expr: 'add("live", arriving.name, 1)'}
  - {name: leave, on: [exit, leave], expr: 'add("live", task.name, -1)'}
`,
	} {
		for _, mode := range []string{"enforce", "observe"} {
			rt := start(t, Config{Slots: 2, StallAfter: -1})
			load(t, rt, "mode: "+mode+"\nstates: {live: {first: 0, keys: 10}}\n"+text)
			for i := range 10 {
				var tasks []*Handle
				end := make(chan struct{})
				for range 5 {
					tasks = append(tasks, rt.Go(background, "job", func(ctx context.Context) error {
						return Block(ctx, func() error { <-end; return nil })
					}))
				}
				eventually(t, "five arrivals", func() bool { return rt.Stats().Policies["bound"].Evaluations == int64(i+1)*5 })
				close(end)
				for _, h := range tasks {
					h.Wait(background)
				}
			}
			st := rt.Stats().Policies["bound"]
			if got := st.Refusals + st.WouldThrow; got != 20 {
				t.Errorf("%s, %s: %d of 50 tasks refused; want 20", what, mode, got)
			}
			must(t, rt.SetMode(Enforce))
		}
	}
}

// A task counts once for a throw that would have ended it, once per section for throws that would
// have ended sections, and once per arrival however many tasks were asked to make room.
func TestObserveCountsATaskOnce(t *testing.T) {
	rt := start(t, Config{Slots: 2, StallAfter: -1})
	must(t, rt.RegisterPreemptibleFunc("holder"))
	observe := func(name string, on Trigger, expr string) *Registration {
		return register(t, rt, Policy{Name: name, On: on, Mode: Observe, Expr: expr})
	}
	runaway := observe("runaway", Every(200*time.Microsecond), `task.name == "long" and task.running > duration("2ms") ? throw("runaway") : continue()`)
	sections := observe("sections", Every(200*time.Microsecond), `task.sections["part"] > duration("2ms") ? throw("part") : continue()`)
	both := observe("both", Trigger{Interval: 200 * time.Microsecond, Events: OnEnqueue.Events | OnStart.Events}, `task.name != "holder" ? throw("always") : continue()`)
	must(t, rt.Run(background, "long", func(ctx context.Context) error {
		for i := range 3 {
			Section(ctx, "part", func() (int, error) {
				seen := sections.Stats().Evaluations + 5
				return 0, stall(func() bool {
					SafePoint(ctx)
					st := sections.Stats()
					return st.WouldThrow > int64(i) && st.Evaluations > seen
				})
			})
		}
		return nil
	}))
	if st := runaway.Stats(); st.WouldThrow < 1 || st.WouldThrow > 4 || st.Evaluations < 10 { // in three sections, and outside
		t.Errorf("runaway: %+v", st)
	}
	if st := sections.Stats(); st.WouldThrow != 3 {
		t.Errorf("sections: %+v", st)
	}
	if st := both.Stats(); st.WouldThrow != 1 {
		t.Errorf("both: %+v", st)
	}
	release := taken(t, rt.Loop())
	shed := observe("shed", OnEnqueue, `queue.length > 0 and task.running >= duration("0s") ? throw("busy") : continue()`)
	turn := observe("turn", Every(200*time.Microsecond), `task.kind == "preemptible" and queue.safe > 0 ? switch() : continue()`)
	must(t, rt.RegisterSafeFunc("request"))
	var waiting []*Handle
	for range 5 {
		waiting = append(waiting, rt.Go(background, "request", idle))
	}
	eventually(t, "all to wait", func() bool { return rt.Stats().Loops[0].Queued == 5 })
	eventually(t, "the switches to be noticed", func() bool { return turn.Stats().WouldSwitch == 2 && turn.Stats().Evaluations > 20 })
	release()
	for _, h := range waiting {
		must(t, h.Wait(background))
	}
	if st := shed.Stats(); st.WouldThrow != 5 {
		t.Errorf("shed: %+v", st)
	}
	if st := turn.Stats(); st.WouldSwitch != 2 {
		t.Errorf("turn: %+v", st)
	}
}

// The log line of a dry run says what and why. The line of a throw says what, into which task, why
// and where.
func TestLogOfVerdicts(t *testing.T) {
	var log, none journal
	logVerdicts(t, &log, &none)
	for log.count("at no safe point so far") > 0 { // the task had no processor for a while
		log, none = journal{}, journal{}
		logVerdicts(t, &log, &none)
	}
	for _, text := range []string{
		`level=WARN msg="cocoon: policy threw" policy=limit task=long reason="took too long" where="`, `main_test.go:`, `section=part`,
		`level=WARN msg="cocoon: policy threw" policy=guard task=bad reason="not you" where="on arrival"`,
	} {
		if n := log.count(text); n == 0 {
			t.Errorf("no line has %s:\n%s", text, log.String())
		}
	}
	if n := log.count("policy threw"); n != 2 { // one per second and policy
		t.Errorf("%d lines of throws", n)
	}
	if n := none.count("policy threw"); n != 0 {
		t.Errorf("%d lines of throws, which were turned off", n)
	}
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	register(t, rt, Policy{Name: "dry", On: OnEnqueue, Mode: Observe, State: map[string]any{"n": 7}, Expr: `arriving.priority < state.n and hash(arriving.labels.user) >= 0 ? throw("too low") : add("n", 1)`})
	must(t, rt.Run(WithLabel(background, "user", "ann"), "job", idle))
	rt.log.flush()
	if want := `would="throw(\"too low\")" because="arriving.priority=0 state.n=7 arriving.labels[\"user\"]=\"ann\"" branch="policy.expr:1:67: throw(`; log.count(want) != 1 {
		t.Errorf("no line has %s:\n%s", want, log.String())
	}
}

// A task that a policy on start throws into has run no code, so no line of the runtime's own code is
// where that happened.
func TestThrowOnStartSaysWhere(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	register(t, rt, Policy{Name: "late", On: OnStart, Expr: `task.priority < 1 ? throw("too late") : continue()`})
	pe := preemption(t, rt.Run(background, "job", idle))
	if want := `task "job" refused by policy "late": too late`; pe.Error() != want {
		t.Errorf("got %v\nwant %s", pe, want)
	}
	rt.log.flush()
	if want := `policy=late task=job reason="too late" where="on start"`; log.count(want) != 1 {
		t.Errorf("no line has %s:\n%s", want, log.String())
	}
}

// logVerdicts has the same policies throw and refuse in a runtime that logs to log, and in one with
// quiet throws that logs to none.
func logVerdicts(t *testing.T, log, none *journal) {
	t.Helper()
	limit := Policy{Name: "limit", On: Every(time.Millisecond), Expr: `task.name == "long" and task.section == "part" ? throw("took too long") : continue()`}
	guard := Policy{Name: "guard", On: OnEnqueue, State: map[string]any{"n": 0}, Expr: `arriving.name == "bad" and state.n == 0 ? throw("not you") : continue()`}
	for _, out := range []*journal{log, none} {
		rt := start(t, Config{Slots: 1, Logger: out.logger(), QuietThrows: out == none})
		for _, p := range []Policy{limit, guard} {
			register(t, rt, p)
		}
		register(t, rt, Policy{Name: "dry", On: OnEnqueue, Mode: Observe, Match: Match{Tasks: []string{"bad"}}, State: map[string]any{"n": 7},
			Expr: `arriving.priority < state.n ? throw("too low") : add("n", 1)`})
		for range 3 {
			if err := rt.Run(background, "long", func(ctx context.Context) error {
				_, err := Section(ctx, "part", func() (int, error) { return 0, spinForever(ctx) })
				return err
			}); err == nil {
				t.Error("no throw")
			}
			if err := rt.Run(background, "bad", idle); err == nil {
				t.Error("no refusal")
			}
		}
		rt.log.flush()
	}
}

// The greatest mode counts: the policy's, its document's or the runtime's. All of them can be
// changed while policies are in force.
func TestModes(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	file := filepath.Join(t.TempDir(), "policies.yaml")
	write := func(mode, own string) {
		t.Helper()
		must(t, os.WriteFile(file, fmt.Appendf(nil, "version: 1\nmode: %s\nlimits: [{func: part, limit: 1s}]\npreemption: {on: enqueue, mode: observe}\npolicies: [{name: p, on: start, mode: %s, state: {n: 0}, expr: 'add(\"n\", 1); state.n >= 3 ? throw(\"x\") : continue()'}]\n", mode, own), 0o600))
		must(t, rt.LoadPolicyFile(file))
	}
	check := func(when string, name string, want Mode) {
		t.Helper()
		if got := rt.Stats().Policies[name].Mode; got != want {
			t.Errorf("%s: %s is in mode %v, want %v", when, name, got, want)
		}
	}
	run := func() error {
		return rt.Run(background, "job", func(ctx context.Context) error { SafePoint(ctx); return nil })
	}
	write("observe", "enforce")
	check("the document observes", "p", Observe)
	check("the document observes", "time-limit/part", Observe)
	write("enforce", "enforce")
	check("the document enforces", "p", Enforce)
	check("the document enforces", "default-preemption", Observe)
	for range 3 {
		must(t, run())
	}
	if run() == nil {
		t.Error("not enforced")
	}
	p := rt.Policy("p")
	must(t, p.SetMode(Observe)) // its state is kept
	before := p.Stats()
	must(t, run())
	if st := p.Stats(); st.WouldThrow != before.WouldThrow+1 {
		t.Errorf("the dry run does not begin where the policy was: %+v after %+v", st, before)
	}
	write("enforce", "enforce") // the document does not change it
	check("observed, and loaded again", "p", Observe)
	if p.Policy().Mode != Observe {
		t.Error(p.Policy())
	}
	write("off", "enforce")
	check("the document is off", "p", Off)
	evaluations := p.Stats().Evaluations
	must(t, run())
	if n := p.Stats().Evaluations; n != evaluations {
		t.Error("evaluated, though it is off")
	}
	write("enforce", "enforce")
	check("the document enforces again", "p", Enforce)
	if run() == nil {
		t.Error("not enforced")
	}
	for _, m := range []Mode{Off, Observe} {
		must(t, rt.SetMode(m))
		check("the runtime", "p", m)
		must(t, run())
	}
	late := register(t, rt, Policy{Name: "late", On: OnStart, Expr: `throw("x")`})
	check("registered while the runtime observes", "late", Observe)
	must(t, run())
	late.Cancel()
	must(t, rt.SetMode(Enforce))
	if run() == nil {
		t.Error("not enforced")
	}
	must(t, p.Update(Policy{On: OnStart, Expr: `throw("another")`}))
	write("enforce", "enforce")
	if rt.Policy("p") != p || p.Stats().Off || run() != nil {
		t.Error("the file does not count")
	}
	p.Cancel()
	if rt.Policy("p") != nil || !errors.Is(p.SetMode(Observe), ErrGone) {
		t.Error("it is still there")
	}
	if rt.SetMode(9) == nil || rt.Mode() != Enforce {
		t.Error("there is no mode 9")
	}
}

func TestModeOfEnvironment(t *testing.T) {
	for name, want := range map[string]Mode{"": Enforce, "enforce": Enforce, "observe": Observe, "off": Off} {
		t.Setenv(modeVariable, name)
		rt := start(t, Config{Slots: 1})
		register(t, rt, Policy{Name: "p", On: OnStart, Expr: `throw("x")`})
		err := rt.Run(background, "job", func(ctx context.Context) error { SafePoint(ctx); return nil })
		if rt.Mode() != want || (err != nil) != (want == Enforce) {
			t.Errorf("%q: mode %v, %v", name, rt.Mode(), err)
		}
	}
	t.Setenv(modeVariable, "obsreve")
	if _, err := New(Config{}); err == nil || !strings.Contains(err.Error(), `COCOON_MODE is "obsreve"; want enforce, observe or off`) {
		t.Error(err)
	}
}

// A dry run that would have cancelled itself decides nothing more, until its mode changes.
func TestObserverWouldCancelItself(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	r := register(t, rt, Policy{Name: "once", On: OnStart, Mode: Observe, Expr: `cancel(); throw("x")`})
	for range 3 {
		must(t, rt.Run(background, "job", idle))
	}
	if st := r.Stats(); st.WouldThrow != 1 || st.Off {
		t.Errorf("%+v", st)
	}
	must(t, r.SetMode(Off))
	must(t, r.SetMode(Observe))
	must(t, rt.Run(background, "job", idle))
	if st := r.Stats(); st.WouldThrow != 2 {
		t.Errorf("%+v", st)
	}
}

// A policy that observes and enforces in turn, under load and on two loops, loses nothing that it
// counts while it enforces. When SetMode has returned, the other mode has ended.
func TestModeByTurns(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"n": 0}))
	second := newLoopOf(t, rt, "second", 1)
	r := register(t, rt, Policy{Name: "p", On: OnExit, Expr: `add("n", 1)`})
	var stop atomic.Bool
	var wg sync.WaitGroup
	loops := []*Loop{rt.Loop(), second}
	for _, l := range loops {
		wg.Go(func() {
			for !stop.Load() {
				l.Run(background, "job", idle)
			}
		})
	}
	for i := range longtest.Count(1000, 200) {
		if i%2 == 0 {
			must(t, r.SetMode([]Mode{Observe, Enforce, Off}[i/2%3]))
		} else {
			must(t, rt.SetMode([]Mode{Enforce, Enforce, Observe, Off}[i/2%4]))
		}
		for _, l := range loops { // in each mode, however slow the other goroutines are
			must(t, l.Run(background, "job", idle))
		}
		if mode := r.Stats().Mode; mode == Enforce {
			continue
		}
		if before, after := rt.State("n"), rt.State("n"); before != after {
			t.Fatalf("%v became %v, though nobody enforces", before, after)
		}
	}
	must(t, rt.SetMode(Enforce))
	must(t, r.SetMode(Enforce))
	stop.Store(true)
	wg.Wait()
	st := r.Stats()
	if n := rt.State("n"); n != st.Effects || st.Effects+st.WouldEffect != st.Evaluations || st.Effects == 0 || st.WouldEffect == 0 {
		t.Errorf("n is %v; %+v", n, st)
	}
}

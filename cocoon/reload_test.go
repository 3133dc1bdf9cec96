package cocoon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// policyFile is a policy document that is edited.
type policyFile string

func newPolicyFile(t testing.TB) policyFile {
	return policyFile(filepath.Join(t.TempDir(), "policies.yaml"))
}

// load writes the document, without its first line, and loads the file.
func (f policyFile) load(t testing.TB, rt *Runtime, document string) error {
	t.Helper()
	must(t, os.WriteFile(string(f), []byte("version: 1\n"+document), 0o600))
	return rt.LoadPolicyFile(string(f))
}

// inForce describes everything that registrations and documents have put in force.
func inForce(rt *Runtime) string {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	var b strings.Builder
	states := *rt.states.Load()
	for _, name := range slices.Sorted(maps.Keys(states)) {
		fmt.Fprintln(&b, "state", name, states[name])
	}
	for _, name := range slices.Sorted(maps.Keys(rt.policies)) {
		r := rt.policies[name]
		fmt.Fprintf(&b, "policy %s %v %+v\n", name, r.now.off.Load(), r.now.spec)
	}
	for _, l := range *rt.loops.Load() {
		for e := range 16 {
			for _, x := range l.hub.Listeners(1 << e) {
				fmt.Fprintln(&b, "loop", l.cfg.Name, "event", e, x.version.of.name, x.version.of.now == x.version)
			}
		}
		fmt.Fprintln(&b, "loop", l.cfg.Name, l.guarded)
	}
	said := maps.Clone(rt.naming.declared)
	for name := range rt.naming.registered {
		said[name] = rt.naming.declared[name]
	}
	for _, name := range slices.Sorted(maps.Keys(said)) {
		fmt.Fprint(&b, "task ", name, " ", rt.naming.registered[name])
		if d := said[name]; d != nil {
			fmt.Fprint(&b, " declared ", d.kind, d.cost, d.fixed)
			for _, a := range d.attrs {
				fmt.Fprint(&b, " ", a.what, a.label, a.number)
			}
		}
		fmt.Fprintln(&b)
	}
	if table := rt.tenants.Load(); table != nil {
		fmt.Fprintln(&b, "tenants", table.text, table.shares, table.most)
	}
	fmt.Fprintln(&b, "costs", rt.costs.Load())
	for _, l := range *rt.loops.Load() {
		fmt.Fprintf(&b, "leads of %s %+v\n", l.cfg.Name, l.leads.Load())
	}
	return b.String()
}

// anyDocument generates a document, which may be invalid.
func anyDocument(rng *rand.Rand) string {
	pick := func(choices ...string) string { return choices[rng.IntN(len(choices))] }
	var b strings.Builder
	b.WriteString("states: {version: " + pick("1", "2"))
	for _, name := range []string{"a", "b"} {
		b.WriteString(pick("", ", "+name+": 1", ", "+name+": 2", ", "+name+": true"))
	}
	b.WriteString(", k: " + pick("{first: 1, keys: 5}", "{first: 1, keys: 5, ttl: 1m}", "{first: 2, keys: 5}", "{first: 1, keys: 9}", "{first: 1.5, keys: 9}"))
	b.WriteString(", l: " + pick("{rate: 1, burst: 5}", "{rate: 2, burst: 5}", "{rate: 1, burst: 9}", "{rate: 2, burst: 9}"))
	b.WriteString(pick("", ", m: {first: 1, keys: 5}", ", m: 1", ", m: {rate: 1, burst: 5}", ", m: {rate: 1, burst: 5, keys: 5}"))
	b.WriteString(pick("}\n", "}\n", "}\n", ", of code: 1}\n", ", outside: 1}\n"))
	b.WriteString("tasks:\n  always: safe\n")
	for _, name := range []string{"x", "y", "code"} {
		b.WriteString(pick("", "", "  "+name+": safe\n", "  "+name+": preemptible\n", "  "+name+": {priority: 3, cost: 2ms}\n", "  "+name+": {kind: both, labels: {tenant: gold}}\n"))
	}
	b.WriteString(pick("", "", "", "  code: atomic\n", "  x: atomic\n"))
	b.WriteString(pick("", "limits: [{func: scan, limit: 1s}]\n", "limits: [{func: scan, limit: 2s}, {func: x, limit: 1s}]\n"))
	b.WriteString(pick("", "preemption: {on: enqueue}\n", "preemption: {every: 1ms}\n"))
	b.WriteString(pick("", "tenants: {label: tenant}\n", "tenants: {label: tenant, shares: {gold: 3}}\n", "tenants: {label: plan, max: 7}\n"))
	b.WriteString(pick("", "order: priority\n", "order: fair\n", "order: shortest\n"))
	b.WriteString("policies:\n  - {name: always, on: exit, expr: continue()}\n")
	for _, p := range []string{"p", "q", "r"} {
		b.WriteString(pick("", "",
			"  - {name: "+p+", on: enqueue, expr: 'queue.length > 9 ? throw(\"full\") : continue()'}\n",
			"  - {name: "+p+", on: [enqueue, start], mode: observe, expr: 'state.version == 7 ? throw(\"full\") : continue()'}\n",
			"  - {name: "+p+", every: 5ms, state: {own: 1}, expr: 'state.a + state.own > 7 ? throw(\"full\") : continue()'}\n",
			"  - {name: "+p+", event: e, expr: 'add(\"k\", event.name, 1)'}\n",
			"  - {name: "+p+", event: e, expr: 'take(\"l\", 5) ? throw(\"full\") : continue()'}\n",
			"  - {name: "+p+", event: e, expr: 'tenant.queued > 9 ? throw(\"full\") : continue()'}\n",
		))
	}
	b.WriteString(pick("", "", "", "", "  - {name: late, on: exit, expr: nonsense}\n", "  - {name: of code, on: exit, expr: continue()}\n"))
	return strings.ReplaceAll(b.String(), "of code", "of_code")
}

// TestReloadIsLikeALoad: whatever was in force, a reloaded file has the same effect as in a runtime
// that never saw another version. If it is refused, nothing changes. No policy changes a state in
// this test.
func TestReloadIsLikeALoad(t *testing.T) {
	runtime := func() *Runtime {
		rt := start(t, Config{Slots: 1})
		_, err := rt.NewLoop(LoopConfig{Name: "other", Slots: 1})
		must(t, err)
		must(t, rt.RegisterPreemptibleFunc("code"))
		must(t, rt.RegisterState(map[string]any{"of_code": 1}))
		register(t, rt, Policy{Name: "of_code", On: OnEnqueue, Expr: `state.of_code == 7 ? throw("never") : continue()`})
		return rt
	}
	rt, file := runtime(), newPolicyFile(t)
	rng := rand.New(rand.NewPCG(1, 2))
	loaded, refused := 0, 0
	documents := longtest.Count(200, 20)
	for n := range documents {
		document, before := anyDocument(rng), inForce(rt)
		err := file.load(t, rt, document)
		fresh := runtime()
		err2 := file.load(t, fresh, document)
		if (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
			t.Fatalf("document %d\n%s\nloaded again: %v\nloaded: %v", n, document, err, err2)
		}
		want := inForce(fresh)
		if err != nil {
			want = before
			refused++
		} else {
			loaded++
		}
		if got := inForce(rt); got != want {
			t.Fatalf("document %d\n%s\n%v\nin force is\n%s\nwant\n%s", n, document, err, got, want)
		}
		must(t, fresh.Shutdown(background))
	}
	if enough := documents * 3 / 20; loaded < enough || refused < enough {
		t.Errorf("%d documents were loaded, %d refused", loaded, refused)
	}
	must(t, file.load(t, rt, ""))
	if got, want := inForce(rt), inForce(runtime()); got != want {
		t.Errorf("after an empty document there is\n%s\nwant\n%s", got, want)
	}
}

// TestReloadKeeps: unchanged parts of the file go on undisturbed, with their counters and the
// values of their states.
func TestReloadKeeps(t *testing.T) {
	rt, file := start(t, Config{Slots: 1}), newPolicyFile(t)
	const count = `
  - {name: count, on: exit, state: {own: 0}, expr: 'set("own", state.own + 1), set("seen", state.own + 1)'}
`
	step := func(document string, seen any, limit any, evaluations int64) {
		t.Helper()
		must(t, file.load(t, rt, document))
		must(t, rt.Run(background, "job", idle))
		if got := rt.Stats().Policies["count"].Evaluations; rt.State("seen") != seen || rt.State("limit") != limit || got != evaluations {
			t.Errorf("seen %v, limit %v, %d evaluations; want %v, %v, %d", rt.State("seen"), rt.State("limit"), got, seen, limit, evaluations)
		}
	}
	both := strings.ReplaceAll(count, "),", ");")
	step("states: {seen: 0, limit: 5}\npolicies:"+both, int64(1), int64(5), 1)
	step("states: {seen: 0, limit: 7}\npolicies:"+both, int64(2), int64(7), 2)
	step("states: {seen: 0}\npolicies:"+both+"  - {name: another, on: exit, expr: continue()}\n", int64(3), nil, 3)
	step("states: {seen: 0, limit: true}\npolicies:"+strings.Replace(both, "own: 0", "own: 10", 1), int64(11), true, 4)
	step("states: {seen: -1, limit: true}\npolicies:\n  - {name: count, on: exit, expr: continue()}\n", int64(-1), true, 4) // it would come to nothing, and is not evaluated
}

// TestReloadBringsBack: a reload puts a policy in force again that has cancelled itself, or was
// switched off.
func TestReloadBringsBack(t *testing.T) {
	rt, file := start(t, Config{Slots: 1}), newPolicyFile(t)
	const document = "policies:\n  - {name: once, on: start, expr: cancel()}\n  - {name: fails, event: e, state: {n: 9223372036854775807}, expr: 'set(\"n\", state.n + 1)'}\n"
	for range 3 {
		must(t, file.load(t, rt, document))
		if st := rt.Stats().Policies; st["once"].Off || st["fails"].Off || len(st) != 2 {
			t.Fatalf("loaded: %+v", st)
		}
		eventually(t, "the end of both", func() bool {
			must(t, rt.Run(background, "job", idle))
			rt.Notify("e", 0)
			st := rt.Stats().Policies
			_, there := st["once"]
			return !there && st["fails"].Off
		})
	}
}

// TestReloadFindsTheNameTaken: a policy of the file has cancelled itself, and code has registered
// another one with its name since.
func TestReloadFindsTheNameTaken(t *testing.T) {
	rt, file := start(t, Config{Slots: 1}), newPolicyFile(t)
	const document = "policies: [{name: p, on: start, expr: cancel()}]"
	must(t, file.load(t, rt, document))
	must(t, rt.Run(background, "job", idle))
	eventually(t, "its end", func() bool { return len(rt.Stats().Policies) == 0 })
	register(t, rt, Policy{Name: "p", On: OnExit, Expr: "continue()"})
	before := inForce(rt)
	if err := file.load(t, rt, document); !errors.Is(err, ErrDuplicate) || inForce(rt) != before {
		t.Errorf("error %v, in force %s", err, inForce(rt))
	}
	must(t, file.load(t, rt, ""))
	if got := inForce(rt); got != before {
		t.Errorf("in force is %s", got)
	}
}

// TestCancelOfAVersion: a policy that cancels itself does not cancel an update that came first.
func TestCancelOfAVersion(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	r := register(t, rt, Policy{Name: "p", On: OnStart, Expr: "cancel()"})
	late := r.now
	must(t, r.Update(Policy{On: OnExit, Expr: "continue()"}))
	late.cancel()
	if st, there := rt.Stats().Policies["p"]; !there || st.Off {
		t.Errorf("%+v, %v", st, there)
	}
}

// TestReloadDoesNotPutOff: a reload does not postpone a time policy.
func TestReloadDoesNotPutOff(t *testing.T) {
	rt, file := start(t, Config{Slots: 1}), newPolicyFile(t)
	const often = "policies:\n  - {name: tick, every: 50ms, expr: 'queue.length > 7 ? throw(\"never\") : continue()'}\n"
	must(t, file.load(t, rt, often))
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		for i := 0; rt.Stats().Policies["tick"].Evaluations < 3; i++ {
			must(t, file.load(t, rt, often+fmt.Sprintf("  - {name: other%d, on: exit, expr: continue()}\n", i%2)))
			if i > 5000 {
				t.Fatal("it never came")
			}
			time.Sleep(time.Millisecond)
		}
		return nil
	}))
}

// TestReloadOfAnotherFile: two files are independent. A path that leads to another file by now
// counts as the same file.
func TestReloadOfAnotherFile(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(name, document string) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("version: 1\n"+document), 0o600))
	}
	write("1", "states: {x: 1}\n")
	write("2", "states: {x: 2}\n")
	write("other", "states: {x: 3}\n")
	must(t, os.Symlink("1", "policies.yaml"))
	must(t, rt.LoadPolicyFile("policies.yaml"))
	must(t, os.Remove("policies.yaml"))
	must(t, os.Symlink("2", "policies.yaml"))
	must(t, rt.LoadPolicyFile(filepath.Join(dir, "sub", "..", "policies.yaml")))
	if err := rt.LoadPolicyFile("other"); !errors.Is(err, ErrDuplicate) || !strings.HasPrefix(err.Error(), `other:2:10: state "x"`) {
		t.Errorf("another file with the same state: %v", err)
	}
	must(t, os.Remove("policies.yaml"))
	if err := rt.LoadPolicyFile("policies.yaml"); !errors.Is(err, os.ErrNotExist) || rt.State("x") != int64(2) {
		t.Errorf("a file that is gone: %v; x is %v", err, rt.State("x"))
	}
	if err := rt.LoadPolicies(strings.NewReader("version: 1\nstates: {x: 2}")); !errors.Is(err, ErrDuplicate) {
		t.Errorf("a document that is no file: %v", err)
	}
}

// TestReloadLeavesOthersWhatTheyNeed: a reload cannot remove what policies outside of the document
// refer to.
func TestReloadLeavesOthersWhatTheyNeed(t *testing.T) {
	rt, file := start(t, Config{Slots: 1}), newPolicyFile(t)
	must(t, file.load(t, rt, "states: {x: 1, y: 1}\ntenants: {label: tenant}\n"))
	x := register(t, rt, Policy{Name: "of/x", On: OnExit, Expr: "set(\"x\", state.x + 1)"})
	tenants := register(t, rt, Policy{Name: "of/tenants", On: OnStart, Expr: `tenant.queued > 7 ? throw("never") : continue()`})
	before := inForce(rt)
	for document, want := range map[string]string{
		"states: {y: 1}\ntenants: {label: tenant}\n":          `cocoon: the document no longer has the state "x" of type int, to which policy "of/x" refers; take that policy out first`,
		"states: {x: true, y: 1}\ntenants: {label: tenant}\n": `the document no longer has the state "x" of type int`,
		"states: {x: 1}\n": `the document no longer has tenants, to which policy "of/tenants" refers`,
	} {
		if err := file.load(t, rt, document); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
		if got := inForce(rt); got != before {
			t.Errorf("half done: %s", got)
		}
	}
	must(t, file.load(t, rt, "states: {x: 5}\ntenants: {label: plan}\n"))
	must(t, rt.Run(background, "job", idle))
	if got := rt.State("x"); got != int64(6) {
		t.Errorf("x is %v", got)
	}
	x.Cancel()
	tenants.Cancel()
	must(t, file.load(t, rt, ""))
}

// TestReloadOfTenants: tenants registered by code are in force again when the document has none any
// more. Accounts for another label begin anew, while tasks of the old accounts still run.
func TestReloadOfTenants(t *testing.T) {
	rt, file := start(t, Config{Slots: 2}), newPolicyFile(t)
	must(t, rt.RegisterTenants(Tenants{Label: "tenant", Shares: map[string]int{"gold": 2}}))
	ctx := WithLabel(WithLabel(background, "tenant", "gold"), "plan", "big")
	share := func() int {
		must(t, rt.Run(ctx, "job", idle))
		return rt.Stats().Loops[0].Tenants["gold"].Share
	}
	for _, c := range []struct {
		document string
		want     int
	}{{"", 2}, {"tenants: {label: tenant, shares: {gold: 5}}", 5}, {"tenants: {label: tenant, shares: {gold: 6}}", 6}, {"", 2}} {
		must(t, file.load(t, rt, c.document))
		if got := share(); got != c.want {
			t.Errorf("%q: the share is %d, want %d", c.document, got, c.want)
		}
	}
	if err := file.load(t, rt, "tenants: {label: plan}"); !errors.Is(err, ErrDuplicate) {
		t.Errorf("by another label than code says: %v", err)
	}

	rt, file = start(t, Config{Slots: 2}), newPolicyFile(t)
	must(t, file.load(t, rt, "tenants: {label: tenant}\norder: fair"))
	must(t, rt.Run(ctx, "long", func(ctx context.Context) error {
		must(t, file.load(t, rt, "tenants: {label: plan}\norder: fair"))
		must(t, rt.Run(ctx, "inner", idle))
		return nil
	}))
	must(t, rt.Run(ctx, "job", idle))
	if got := rt.Stats().Loops[0].Tenants; len(got) != 1 || got["big"].Ended == 0 {
		t.Errorf("accounts by the plan: %+v", got)
	}
}

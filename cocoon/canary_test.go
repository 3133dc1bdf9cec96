package cocoon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

const (
	oldPolicy = "policies:\n  - {name: p, on: enqueue, expr: 'arriving.name == \"ask\" ? throw(\"old\") : continue()'}\n"
	newPolicy = "policies:\n  - {name: p, on: enqueue, expr: 'arriving.name == \"ask\" ? throw(\"new\") : continue()'}\n"
	byUser    = "canary: {share: 0.3, by: task.labels.user}\n"
)

// asked returns the reason with which the task of a user is refused, or "".
func asked(t testing.TB, rt *Runtime, user string) string {
	t.Helper()
	err := rt.Run(WithLabel(t.Context(), "user", user), "ask", func(context.Context) error { return nil })
	var by *PreemptedError
	if errors.As(err, &by) {
		return by.Reason
	}
	must(t, err)
	return ""
}

// newShare returns the users who get the new version.
func newShare(t testing.TB, rt *Runtime) (users []int) {
	t.Helper()
	for user := range 1000 {
		switch why := asked(t, rt, fmt.Sprint("user", user)); why {
		case "new":
			users = append(users, user)
		case "old":
		default:
			t.Fatalf("user %d is refused as %q", user, why)
		}
	}
	return users
}

// A canary's policies get its share of the users, always the same ones, and the old version comes
// back, or the new one gets all, when a document without canary is loaded.
func TestCanaryShare(t *testing.T) {
	rt, file := start(t, Config{QuietThrows: true}), newPolicyFile(t)
	must(t, file.load(t, rt, oldPolicy))
	must(t, file.load(t, rt, byUser+newPolicy))
	first := newShare(t, rt)
	if n := len(first); n < 250 || n > 350 {
		t.Errorf("of 1000 users, %d get the new version", n)
	}
	if asked(t, rt, "") != "old" {
		t.Error("a task without the label gets the new version")
	}
	before := rt.Policy("p@canary").Stats().Refusals
	must(t, file.load(t, rt, byUser+"# the same\n"+newPolicy))
	if again := newShare(t, rt); !slices.Equal(again, first) {
		t.Error("a reload chooses other users")
	}
	if st := rt.Policy("p@canary").Stats(); st.Refusals != before+int64(len(first)) {
		t.Errorf("the canary's policy starts again: %d refusals", st.Refusals)
	}
	must(t, file.load(t, rt, "canary: {share: 0.6, by: task.labels.user}\n"+newPolicy))
	for _, user := range first {
		if asked(t, rt, fmt.Sprint("user", user)) != "new" {
			t.Fatalf("user %d leaves the canary when its share grows", user)
		}
	}
	must(t, file.load(t, rt, newPolicy))
	if n := len(newShare(t, rt)); n != 1000 || rt.Policy("p@canary") != nil {
		t.Errorf("after the canary, %d users get the new version", n)
	}
	must(t, file.load(t, rt, byUser+oldPolicy))
	must(t, file.load(t, rt, newPolicy))
	if n := len(newShare(t, rt)); n != 1000 || rt.canaries.running() {
		t.Errorf("after the second canary, %d users get the old version", 1000-n)
	}
}

// Shares of 0 and 1, other choices, and policies that only one side has.
func TestCanarySides(t *testing.T) {
	for _, c := range []struct {
		canary string
		least  int
		most   int
	}{
		{"{share: 0, by: task.labels.user}", 0, 0},
		{"{share: 1, by: task.labels.user}", 1000, 1000},
		{"{share: 1}", 1000, 1000},
		{"{share: 0}", 0, 0},
		{"{share: 0.5}", 400, 600},
		{"{share: 0.5, by: task.name}", 0, 1000},
		{"{share: 0.5, by: tenant.name}", 400, 600},
	} {
		rt, file := start(t, Config{QuietThrows: true}), newPolicyFile(t)
		must(t, rt.RegisterTenants(Tenants{Label: "user"}))
		must(t, file.load(t, rt, oldPolicy))
		must(t, file.load(t, rt, "canary: "+c.canary+"\n"+newPolicy))
		n := len(newShare(t, rt))
		if n < c.least || n > c.most || strings.Contains(c.canary, "task.name") && n%1000 != 0 {
			t.Errorf("%s: %d of 1000 users get the new version", c.canary, n)
		}
	}
	rt, file := start(t, Config{QuietThrows: true}), newPolicyFile(t)
	must(t, file.load(t, rt, oldPolicy))
	must(t, file.load(t, rt, byUser+strings.ReplaceAll(newPolicy, "name: p", "name: q")))
	newShare(t, rt) // p has the rest, and q the cohort
}

// The first document of a file applies to all tasks: otherwise a restart of the server would leave
// most of them without any policy.
func TestCanaryWithoutOldVersion(t *testing.T) {
	var lines journal
	rt, file := start(t, Config{QuietThrows: true, Logger: lines.logger()}), newPolicyFile(t)
	must(t, file.load(t, rt, byUser+newPolicy))
	if n := len(newShare(t, rt)); n != 1000 || rt.canaries.running() {
		t.Errorf("%d of 1000 users get the only version", n)
	}
	eventually(t, "a line of the log", func() bool { return lines.count("canary applies to all tasks") == 1 })
	must(t, file.load(t, rt, byUser+oldPolicy))
	if n := len(newShare(t, rt)); n < 650 || n > 750 {
		t.Errorf("%d of 1000 users keep the first version", n)
	}
}

// What a canary cannot change is refused, and nothing changes.
func TestCanaryRefused(t *testing.T) {
	rt, file := start(t, Config{}), newPolicyFile(t)
	must(t, file.load(t, rt, "states: {n: 1}\ntasks: {a: safe}\n"+oldPolicy))
	before := inForce(rt)
	for _, c := range []struct{ text, want string }{
		{"states: {n: 2}\ntasks: {a: safe}\n" + byUser + newPolicy, `changes state "n"; load that without canary first`},
		{"states: {n: 1}\n" + byUser + newPolicy, `removes task "a"`},
		{"states: {n: 1}\ntasks: {a: safe}\ntenants: {label: a}\n" + byUser + newPolicy, "adds tenants"},
		{"states: {n: 1}\ntasks: {a: safe}\ncanary: {share: 0.1, by: tenant.name}\n" + newPolicy, "no tenants are registered"},
		{"states: {n: 1}\ntasks: {a: safe}\n" + byUser + strings.ReplaceAll(newPolicy, "arriving.name", "nonsense"), "policies.yaml:6:"},
	} {
		if err := file.load(t, rt, c.text); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "policies.yaml:") {
			t.Errorf("%v\nwant %s", err, c.want)
		}
		if now := inForce(rt); now != before {
			t.Errorf("refused, and in force is\n%s\nnot\n%s", now, before)
		}
	}
	must(t, file.load(t, rt, "states: {n: 1, added: 2}\ntasks: {a: safe}\n"+byUser+newPolicy))
	must(t, file.load(t, rt, "states: {n: 1}\ntasks: {a: safe}\n"+oldPolicy))
	if now := inForce(rt); now != before {
		t.Errorf("after the canary is in force\n%s\nnot\n%s", now, before)
	}
}

// Of an evaluation that concerns no task the old version decides.
func TestCanaryWithoutTask(t *testing.T) {
	rt, file := start(t, Config{}), newPolicyFile(t)
	policy := func(n int) string {
		return fmt.Sprintf("states: {n: 0}\npolicies:\n  - {name: p, event: now, expr: 'set(\"n\", %d)'}\n", n)
	}
	must(t, file.load(t, rt, policy(1)))
	must(t, file.load(t, rt, "canary: {share: 1}\n"+policy(2)))
	rt.Notify("now", 0)
	if n := rt.StateValues()[0].Value; n != int64(1) {
		t.Errorf("the state is %v", n)
	}
	must(t, file.load(t, rt, policy(2)))
	rt.Notify("now", 0)
	if n := rt.StateValues()[0].Value; n != int64(2) {
		t.Errorf("after the canary the state is %v", n)
	}
}

// quick is a canary with a condition that is looked at 20 times a second.
const quick = "canary: {share: 0.5, by: task.labels.user, rollback: {window: 1s, %s}}\n"

// rolledBack returns the decision of a rollback, after load has gone on until there was one.
func rolledBack(t *testing.T, rt *Runtime, load func(user string)) Decision {
	t.Helper()
	decisions := rt.Decisions(0)
	for until, i := time.Now().Add(20*time.Second), 0; time.Now().Before(until); i++ {
		load(fmt.Sprint("user", i%100))
		for d, ok := decisions.read(); ok; d, ok = decisions.read() {
			if d.Kind == DecisionRollback {
				return d
			}
		}
	}
	t.Fatal("no rollback")
	return Decision{}
}

// A canary is rolled back when one of its conditions holds, and says why.
func TestCanaryRollsBack(t *testing.T) {
	const clock, errs = "policies:\n  - {name: p, on: enqueue, expr: 'arriving.name == \"ask\" ? throw(\"old\") : continue()'}\n",
		"policies:\n  - {name: p, on: enqueue, expr: 'arriving.name == \"ask\" and 9223372036854775807 + queue.length + arriving.priority > 0 ? throw(\"new\") : continue()'}\n"
	const open = "policies:\n  - {name: p, on: enqueue, expr: 'arriving.name == \"nobody\" ? throw(\"old\") : continue()'}\n"
	for _, c := range []struct{ name, old, new, condition, want string }{
		{"throws", open, newPolicy, "throws: 20", "throws: the new versions threw or refused"},
		{"failed", open, newPolicy, "failed: 0.2", "failed: 100 % of the canary's"},
		{"an error", clock, errs, "throws: 2000000000", "integer overflow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var lines journal
			rt, file := start(t, Config{QuietThrows: true, Logger: lines.logger()}), newPolicyFile(t)
			must(t, file.load(t, rt, c.old))
			before := inForce(rt)
			must(t, file.load(t, rt, fmt.Sprintf(quick, c.condition)+c.new))
			d := rolledBack(t, rt, func(user string) {
				_ = rt.Run(WithPriority(WithLabel(t.Context(), "user", user), 1), "ask", func(context.Context) error { return nil })
			})
			if !strings.Contains(d.Reason, c.want) || d.File != string(file) {
				t.Errorf("the decision is %v; want %q", d, c.want)
			}
			if now := inForce(rt); now != before {
				t.Errorf("after the rollback is in force\n%s\nnot\n%s", now, before)
			}
			eventually(t, "a line of the log", func() bool { return lines.count("canary rolled back") == 1 })
			if st := rt.Stats().Documents[string(file)]; st.Rollbacks != 1 || !strings.Contains(st.RolledBack, c.want) || st.Canary != nil {
				t.Errorf("the figures are %+v", st)
			}
			must(t, rt.LoadPolicyFile(string(file))) // by hand it can be tried again
			if rt.Stats().Documents[string(file)].Canary == nil {
				t.Error("the canary does not begin again")
			}
		})
	}
}

// A canary one of whose sides has had no task says so: nothing is compared.
func TestCanaryOfOneSide(t *testing.T) {
	t.Parallel() // most of its time is a wait
	for _, c := range []struct {
		share      float64
		by         string
		want       string
		times      int
		unmetLabel bool
	}{
		{0.5, "task.labels.nobody", "no task has got its policies", 1, true},
		{0.999, "task.labels.user", "all tasks have got its policies", 1, false},
		{0.5, "task", "compares nothing", 0, false},
	} {
		var lines journal
		rt, file := start(t, Config{Logger: lines.logger()}), newPolicyFile(t)
		must(t, file.load(t, rt, oldPolicy))
		must(t, file.load(t, rt, fmt.Sprintf("canary: {share: %v, by: %s, rollback: {window: 1s, throws: 1000000}}\n", c.share, c.by)+newPolicy))
		is := rt.files[string(file)]
		for range 100 {
			must(t, rt.Run(WithLabel(t.Context(), "user", "u"), "other", idle))
		}
		if c.share > 0.9 { // the only user is the canary's, and many more tasks would be
			is.canary.mu.Lock()
			is.canary.side[1].ended += 50000
			is.canary.mu.Unlock()
		}
		if c.times == 0 {
			for _, sides := range [][2]CanarySide{{}, {{Ended: 50}, {Ended: 50}}, {{Ended: 39}, {}}, {{}, {Ended: 39}}} {
				if got := is.canary.oneSided(figures{side: sides}); got != "" {
					t.Errorf("%+v: %s", sides, got)
				}
			}
			continue
		}
		eventually(t, c.want, func() bool { return lines.count(c.want) == c.times })
		if unmet := slices.Contains(rt.Stats().Unmet, "nobody"); unmet != c.unmetLabel {
			t.Errorf("by %s: the label is unmet: %v", c.by, unmet)
		}
	}
}

// A canary that makes its tasks wait is rolled back by the figures of a loaded queue.
func TestCanaryRollsBackByQueueing(t *testing.T) {
	rt, file := start(t, Config{Slots: 1, MaxBypass: 10 * time.Millisecond}), newPolicyFile(t)
	const old = "policies:\n  - {name: p, on: enqueue, expr: 'rank(5)'}\n"
	must(t, file.load(t, rt, old))
	before := inForce(rt)
	must(t, file.load(t, rt, fmt.Sprintf(quick, "queueing: 2")+strings.Replace(old, "rank(5)", "rank(6)", 1)))
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	var crowd sync.WaitGroup
	for i := range 8 {
		ctx := WithLabel(ctx, "user", fmt.Sprint("user", i))
		crowd.Go(func() {
			for ctx.Err() == nil {
				_ = rt.Run(ctx, "work", func(ctx context.Context) error {
					for begin := time.Now(); time.Since(begin) < time.Millisecond; {
						SafePoint(ctx)
					}
					return nil
				})
			}
		})
	}
	d := rolledBack(t, rt, func(string) { time.Sleep(time.Millisecond) })
	cancel()
	within(t, "the load", crowd.Wait)
	t.Log(d.Reason)
	if !strings.HasPrefix(d.Reason, "queueing: the canary's tasks waited ") || d.File != string(file) {
		t.Errorf("the decision is %v", d)
	}
	if now := inForce(rt); now != before {
		t.Errorf("after the rollback is in force\n%s\nnot\n%s", now, before)
	}
}

// Canaries begin, change, end and roll back while tasks of both sides arrive, and while statistics,
// documents and decisions are read. Each task meets the policies of one side, and the last document
// is in force at the end.
func TestCanaryHammer(t *testing.T) {
	rt, file := start(t, Config{Slots: 2, QuietThrows: true}), newPolicyFile(t)
	other, err := rt.NewLoop(LoopConfig{Name: "other", Slots: 1})
	must(t, err)
	must(t, rt.RegisterTenants(Tenants{Label: "user"}))
	version := func(canary, reason string) string {
		text := canary + "policies:\n"
		for _, name := range []string{"first", "second"} {
			text += fmt.Sprintf("  - {name: %s, on: enqueue, expr: 'arriving.name == \"%s\" ? throw(\"%s\") : continue()'}\n", name, name, reason)
		}
		return text
	}
	must(t, file.load(t, rt, version("", "one")))
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	var crowd sync.WaitGroup
	for i := range 6 {
		loop := []*Loop{rt.Loop(), other}[i%2]
		ctx := WithLabel(ctx, "user", fmt.Sprint("user", i))
		crowd.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				err := loop.Run(ctx, []string{"first", "second", "free"}[n%3], idle)
				var by *PreemptedError
				switch refused := errors.As(err, &by); {
				case ctx.Err() != nil: // it may have ended the task
				case n%3 == 2 && err != nil, n%3 < 2 && (!refused || by.Reason != "one" && by.Reason != "two"):
					t.Errorf("user %d, task %d: %v", i, n, err)
				}
			}
		})
	}
	crowd.Go(func() {
		for ctx.Err() == nil {
			rt.Stats()
			rt.StateValues()
			documentsInForce(rt)
		}
	})
	crowd.Go(func() {
		for d := range rt.Decisions(0).All(ctx) {
			d.Branch()
		}
	})
	within(t, "the reloads", func() {
		canaries := []string{"", "canary: {share: 0.5, by: tenant.name}\n", "canary: {share: 0.6, by: task.labels.user, rollback: {window: 1s, throws: 1}}\n", "canary: {share: 1}\n"}
		ms := longtest.Count(6000, 80)
		for n, until := 0, time.Now().Add(time.Duration(ms)*time.Millisecond); time.Now().Before(until); n++ {
			must(t, file.load(t, rt, version(canaries[n%4], []string{"one", "two"}[n/4%2])))
			if n%10 == 0 {
				time.Sleep(time.Duration(longtest.Count(100, 60)) * time.Millisecond) // for a look at the figures, and a rollback
			}
		}
		must(t, file.load(t, rt, version("", "one")))
	})
	cancel()
	within(t, "the load", crowd.Wait)
	if rt.canaries.running() {
		t.Error("a canary still runs")
	}
	for name, st := range rt.Stats().Policies {
		if st.Off || st.Errors > 0 {
			t.Errorf("%s: %+v", name, st)
		}
	}
	t.Logf("%d rollbacks", rt.Stats().Documents[string(file)].Rollbacks)
}

// Conditions compare the cohort with the rest, and need enough tasks on both sides.
func TestCanaryConditions(t *testing.T) {
	sides := func(rest, restFailed, own, ownFailed int64, restWait, ownWait time.Duration) (f figures) {
		fill := func(s *CanarySide, ended, failed int64, wait time.Duration) {
			var h histogram
			for range ended {
				h.add(int64(wait))
			}
			*s = CanarySide{ended, failed, h.snapshot()}
		}
		fill(&f.side[0], rest, restFailed, restWait)
		fill(&f.side[1], own, ownFailed, ownWait)
		return f
	}
	r := conditions{Window: 10 * time.Second, Throws: 5, Failed: 0.1, Queueing: 2}
	for _, c := range []struct {
		name string
		to   figures
		want string
	}{
		{"nothing", figures{}, ""},
		{"throws at the bound", figures{throws: 50}, ""},
		{"throws", figures{throws: 51}, "throws: the new versions threw or refused 5.1 times a second over 10s; the bound is 5"},
		{"failures on both sides", sides(100, 30, 100, 35, 0, 0), ""},
		{"failures", sides(100, 30, 100, 45, 0, 0), "failed: 45 % of the canary's 100 tasks failed, and 30 % of the other 100"},
		{"failures without rest", sides(0, 0, 100, 45, 0, 0), "failed: 45 % of the canary's"},
		{"failures with a small rest", sides(19, 0, 100, 45, 0, 0), ""},
		{"few failures", sides(100, 0, 19, 19, 0, 0), ""},
		{"waits", sides(100, 0, 100, 0, 10*time.Millisecond, 50*time.Millisecond), "queueing: the canary's tasks waited"},
		{"waits on both sides", sides(100, 0, 100, 0, 40*time.Millisecond, 50*time.Millisecond), ""},
		{"short waits", sides(100, 0, 100, 0, time.Microsecond, 500*time.Microsecond), ""},
		{"waits without rest", sides(0, 0, 100, 0, 0, time.Second), ""},
	} {
		if got := r.holds(figures{}, c.to); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q; want %q", c.name, got, c.want)
		}
		if got := r.holds(c.to, c.to); got != "" {
			t.Errorf("%s: before the window: %q", c.name, got)
		}
	}
}

// While a canary runs, its file may go, change or be rolled back under a watch, and the runtime may
// end.
func TestCanaryUnderWatch(t *testing.T) {
	t.Parallel() // most of its time is a wait
	var lines journal
	rt, file := start(t, Config{QuietThrows: true, Logger: lines.logger()}), newPolicyFile(t)
	must(t, os.WriteFile(string(file), []byte("version: 1\n"+oldPolicy), 0o600))
	must(t, rt.watchFile(t.Context(), string(file), watchPace{unnotified: 10 * time.Millisecond}, nil))
	write := func(text string) { must(t, os.WriteFile(string(file), []byte("version: 1\n"+text), 0o600)) }
	write(fmt.Sprintf(quick, "throws: 20") + newPolicy)
	eventually(t, "the canary", rt.canaries.running)
	must(t, os.Remove(string(file)))
	eventually(t, "the missing file", func() bool { return rt.Stats().Documents[string(file)].Stale != "" })
	if !rt.canaries.running() {
		t.Error("without its file, the canary ends")
	}
	rolledBack(t, rt, func(user string) { asked(t, rt, user) })
	write(fmt.Sprintf(quick, "throws: 20") + newPolicy)
	eventually(t, "the file is back", func() bool { return rt.Stats().Documents[string(file)].Stale == "" })
	if rt.canaries.running() {
		t.Error("a canary that was rolled back begins again, because its file was away")
	}
	write(byUser + newPolicy)
	eventually(t, "another canary", rt.canaries.running)
	must(t, rt.Shutdown(t.Context()))
}

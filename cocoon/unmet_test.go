package cocoon

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy/document"
)

// Stats reports names that no task has had, so that misspelt names are found.
func TestUnmet(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	if got := rt.Stats().Unmet; got != nil {
		t.Errorf("of a new runtime: %q", got)
	}
	load(t, rt, "tasks: {scan: preemptible, gte: {priority: 1}, export: atomic}")
	must(t, rt.RegisterSafeFunc("get"))
	must(t, rt.RegisterSafeFunc(Func{Name: "called by policies", Do: func(context.Context) {}}))
	if err := rt.LoadPolicies(strings.NewReader("version: 1\ntasks: {refused: safe, scan: atomic}\n")); err == nil {
		t.Error("scan was declared twice")
	}
	if got, want := rt.Stats().Unmet, []string{"export", "get", "gte", "scan"}; !slices.Equal(got, want) {
		t.Errorf("before any task: %q; want %q", got, want)
	}
	must(t, rt.Run(background, "get", idle))
	must(t, rt.Run(background, "scan", func(ctx context.Context) error { return rt.Run(ctx, "export", idle) }))
	if got, want := rt.Stats().Unmet, []string{"gte"}; !slices.Equal(got, want) {
		t.Errorf("after some tasks: %q; want %q", got, want)
	}

	load(t, rt, `
limits: [{func: regex.mach, limit: 1s}, {func: regex.match, limit: 1s}, {func: scan, limit: 1s}, {func: report, limit: 1s}]
policies: [{name: p, on: enqueue, match: {tasks: [get, pots]}, expr: 'throw("never")'}, {name: q, on: exit, expr: 'task.sections["parse"] > duration("1s") ? cancel() : continue()'}]
`)
	if got, want := rt.Stats().Unmet, []string{"gte", "parse", "pots", "regex.mach", "regex.match", "report"}; !slices.Equal(got, want) {
		t.Errorf("of limits and policies: %q; want %q", got, want)
	}
	must(t, rt.Run(background, "report", func(ctx context.Context) error {
		_, err := Section(ctx, "regex.match", func() (int, error) { return 0, nil })
		return err
	}))
	if got, want := rt.Stats().Unmet, []string{"gte", "parse", "pots", "regex.mach"}; !slices.Equal(got, want) {
		t.Errorf("after a section: %q; want %q", got, want)
	}
	if got := start(t, Config{Slots: 1}).Stats().Unmet; got != nil {
		t.Errorf("of another runtime: %q", got)
	}
}

// It also reports names of all kinds in expressions, and loops that do not exist.
func TestUnmetInExpressions(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	always := WithLabel(background, "place", "here") // made before any policy refers to it
	must(t, rt.Run(always, "early", idle))
	must(t, rt.RegisterTenants(Tenants{Label: "tenant"}))
	load(t, rt, `
policies:
- {name: name, on: start, expr: 'let n = task.name; n == "gett" or n in ["never", "early"] and task.kind == "both" ? throw("x") : continue()'}
- {name: arriving, on: enqueue, expr: 'arriving.name == "pots" ? throw("x") : continue()'}
- {name: section, every: 1s, expr: 'task.section == "part" or "whole" in task.stack or any(task.stack, # == "pieces") ? throw("x") : continue()'}
- {name: loop, on: start, expr: 'loop.name == "main" or loop.name == "default" and task.name == "" ? throw("x") : continue()'}
- {name: match, on: exit, match: {loops: [default, bulk]}, expr: 'task.kind == "both" ? cancel() : continue()'}
- {name: tenant, on: start, expr: 'tenant.name in ["gold", "glod"] and task.kind == "both" ? throw("x") : continue()'}
- {name: label, on: start, expr: 'task.labels.place == "here" and task.labels.colour == "red" or task.labels.place == "there" ? throw("x") : continue()'}
- {name: event, on: custom, expr: 'event.name in ["rain", "snow"] ? throw("x") : continue()'}
- {name: custom, event: hail, expr: cancel()}
`)
	check := func(what string, want ...string) {
		t.Helper()
		if got := rt.Stats().Unmet; !slices.Equal(got, want) {
			t.Errorf("%s: %q; want %q", what, got, want)
		}
	}
	check("before", "bulk", "colour", "gett", "glod", "gold", "hail", "here", "main", "never", "part", "pieces", "place", "pots", "rain", "red", "snow", "tenant", "there", "whole")
	must(t, rt.Run(always, "get", idle))
	check("the same context as before", "bulk", "colour", "gett", "glod", "gold", "hail", "main", "never", "part", "pieces", "pots", "rain", "red", "snow", "tenant", "there", "whole")
	must(t, rt.Run(WithLabel(WithLabel(background, "tenant", "gold"), "colour", "blue"), "get", func(ctx context.Context) error {
		_, err := Section(ctx, "part", func() (int, error) { return 0, nil })
		return err
	}))
	rt.Notify("rain", 1)
	check("after", "bulk", "gett", "glod", "hail", "main", "never", "pieces", "pots", "red", "snow", "there", "whole")
	newLoopOf(t, rt, "bulk", 1)
	check("with a loop", "gett", "glod", "hail", "main", "never", "pieces", "pots", "red", "snow", "there", "whole")
}

// A label of the context is met also by a task for which a document declares another label, and
// which is not the first of its name.
func TestUnmetBehindDeclaredLabel(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	load(t, rt, `
tasks: {get: {labels: {place: here}}}
policies: [{name: p, on: start, expr: 'task.labels.place == "here" and task.labels.tenant == "gold" ? throw("x") : continue()'}]
`)
	must(t, rt.Run(background, "get", idle)) // the declared label is noted
	must(t, rt.Run(WithLabel(background, "tenant", "silver"), "get", idle))
	if got, want := rt.Stats().Unmet, []string{"gold"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

// Names without a match are logged once, a minute after the first task. The names of a later
// document are logged after that.
func TestUnmetIsLoggedOnce(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	aMinuteLater := func() {
		now := notify.Now()
		if at := rt.unmetAt.Load(); at < now || at > now+int64(unmetAfter) {
			t.Fatalf("it is looked at in %d ns", at-now)
		}
		rt.unmetAt.Store(now)
		rt.timer.WakeAt(now)
		eventually(t, "the look", func() bool { return rt.unmetAt.Load() == 0 })
	}
	lines := func(want string) {
		t.Helper()
		eventually(t, want, func() bool { return log.count(want) == 1 })
		if n := log.count("matched nothing so far"); n != strings.Count(log.String(), "\n") {
			t.Errorf("%d lines:\n%s", n, &log)
		}
	}
	load(t, rt, "tasks: {scna: preemptible, scan: safe}")
	if rt.unmetAt.Load() != 0 {
		t.Error("there is no task yet, and the timer is to come")
	}
	must(t, rt.Run(background, "scan", idle))
	aMinuteLater()
	lines(`names=[scna] where="[scna (tasks)]"`)
	if rt.unmetAt.Load() != 0 {
		t.Error("it is to be looked at again")
	}
	load(t, rt, "tasks: {gte: safe}")
	load(t, rt, `policies: [{name: p, on: start, match: {loops: [main]}, expr: "task.waited > duration(\"1h\") ? throw(\"late\") : continue()"}]`)
	aMinuteLater()
	lines(`names="[gte main]" where="[gte (tasks) main (match of p)]"`)
	load(t, rt, `
tasks: {scann: safe}
limits: [{func: scann, limit: 1s}]
policies: [{name: q, event: rain, expr: 'task.labels.tier == "gold" and queue.length > 9 ? throw("x") : continue()'}]
`)
	aMinuteLater()
	lines(`where="[gold (expression of q) rain (event of q) scann (tasks; limits) tier (expression of q)]"`)
}

// The document in docs/policy.md refers to the existing loop.
func TestDocumentedLoop(t *testing.T) {
	text, err := os.ReadFile("../docs/policy.md")
	must(t, err)
	_, section, _ := strings.Cut(string(text), "\n## YAML documents\n")
	_, example, _ := strings.Cut(section, "```yaml\nversion: 1")
	example, _, _ = strings.Cut(example, "```")
	doc, err := document.Read(strings.NewReader("version: 1" + example))
	must(t, err)
	rt := start(t, Config{Slots: 1})
	matched := 0
	for _, p := range doc.Policies {
		for _, name := range p.Match.Loops {
			if matched++; !rt.hasLoop(name) {
				t.Errorf("policy %s: there is no loop %q", p.Name, name)
			}
		}
	}
	if matched == 0 {
		t.Error("the example matches no loop")
	}
}

// A name of a section in place of a task's is unmet, although sections have it, and the reverse;
// the log says so. A limit is for both.
func TestUnmetSectionsAndTasks(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	load(t, rt, `
limits: [{func: parse, limit: 1s}, {func: report, limit: 1s}]
policies:
- {name: match, on: exit, match: {tasks: [match.it]}, expr: 'task.kind == "both" ? cancel() : continue()'}
- {name: name, on: start, expr: 'task.name == "by.name" and task.kind == "both" ? throw("x") : continue()'}
- {name: like, on: start, expr: 'task.name in pattern("like.*") and task.kind == "both" ? throw("x") : continue()'}
- {name: section, every: 1s, expr: 'task.section == "report" or task.sections["scan"] > duration("1s") ? throw("x") : continue()'}
`)
	for _, task := range []string{"report", "scan"} {
		must(t, rt.Run(background, task, func(ctx context.Context) error {
			for _, section := range []string{"parse", "match.it", "by.name", "like.it"} {
				if _, err := Section(ctx, section, func() (int, error) { return 0, nil }); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	if got, want := rt.Stats().Unmet, []string{"by.name", "like.*", "match.it", "report", "scan"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
	rt.tellUnmet()
	rt.tellUnmet() // says nothing again
	rt.log.flush()
	for _, want := range []string{`sections="[by.name like.* match.it]"`, `tasks="[report scan]"`} {
		if n := log.count(want); n != 1 {
			t.Errorf("%d lines with %s:\n%s", n, want, &log)
		}
	}
}

// A loop that does not exist is logged a few seconds after a policy names it, without any task, and
// not again a minute after the first task.
func TestUnmetLoopsAreLoggedSoon(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	const line = "policies name loops that do not exist"
	policies := `policies: [{name: p, on: enqueue, match: {loops: [bulk, spare]}, expr: 'queue.length > 9 ? throw("x") : continue()'}, {name: q, on: start, expr: 'loop.name == "main" and queue.length > 9 ? throw("x") : continue()'}]`
	load(t, rt, policies)
	if at, now := rt.loopsAt.Load(), notify.Now(); at == 0 || at > now+int64(loopsAfter) {
		t.Fatalf("it is looked at in %d ns", at-now)
	}
	newLoopOf(t, rt, "spare", 1)
	rt.loopsAt.Store(notify.Now())
	rt.timer.WakeAt(notify.Now())
	eventually(t, "the look", func() bool { return log.count(line) == 1 })
	if log.count(`names="[bulk main]" loops="[default spare]"`) != 1 {
		t.Errorf("%s", &log)
	}
	rt.tellLoops()
	must(t, rt.Run(background, "a", idle))
	rt.tellUnmet()
	rt.log.flush()
	if log.count("bulk") != 1 {
		t.Errorf("%s", &log)
	}
}

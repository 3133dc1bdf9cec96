package cocoon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/stubs"
)

func TestTenantAccounts(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.RegisterTenants(Tenants{Label: "tenant", Shares: map[string]int{"gold": 3}}))
	must(t, rt.RegisterState(map[string]any{"queued": 0, "tasks": 0, "busy": 0, "thrown": 0, "running": time.Duration(0)}))
	register(t, rt, Policy{Name: "see", On: OnEnqueue, Match: Match{Tasks: []string{"probe"}}, Expr: `
		set("queued", tenant.queued); set("tasks", tenant.tasks); set("busy", tenant.busy);
		set("thrown", tenant.thrown); set("running", tenant.running)`})
	register(t, rt, Policy{Name: "shed", On: OnEnqueue, Expr: `tenant.name == "bad" ? throw("not you") : continue()`})
	gold := WithLabel(background, "tenant", "gold")
	must(t, rt.Run(gold, "job", func(ctx context.Context) error { time.Sleep(2 * time.Millisecond); return nil }))
	for range 3 {
		preemption(t, rt.Run(WithLabel(background, "tenant", "bad"), "job", idle))
	}
	running, gate := make(chan struct{}), make(chan struct{})
	holder := rt.Go(gold, "job", func(context.Context) error { close(running); return keepSlot(gate) })
	receive(t, "the slot", running)
	waiting := rt.Go(gold, "job", idle)
	eventually(t, "one that waits", func() bool { return rt.Loop().Stats().Queued == 1 })
	probe := rt.Go(gold, "probe", idle)
	eventually(t, "two that wait", func() bool { return rt.Loop().Stats().Queued == 2 })
	st := rt.Loop().Stats().Tenants
	if g := st["gold"]; g.Share != 3 || g.Tasks != 3 || g.Queued != 2 || g.Busy != 1 || g.Ended != 1 || g.Running < 2*time.Millisecond || g.Thrown != 0 {
		t.Errorf("gold: %+v", g)
	}
	if b := st["bad"]; b.Share != 1 || b.Thrown != 3 || b.Tasks != 0 || b.Ended != 3 {
		t.Errorf("bad: %+v", b)
	}
	for name, want := range map[string]any{"queued": int64(2), "tasks": int64(3), "busy": int64(1), "thrown": int64(0)} {
		if got := rt.State(name); got != want {
			t.Errorf("tenant.%s is %v, want %v", name, got, want)
		}
	}
	if d := rt.State("running").(time.Duration); d < 2*time.Millisecond {
		t.Errorf("tenant.running is %v", d)
	}
	close(gate)
	for _, h := range []*Handle{holder, waiting, probe} {
		must(t, h.Wait(background))
	}
	for name, g := range rt.Loop().Stats().Tenants {
		if g.Tasks != 0 || g.Queued != 0 || g.Busy != 0 {
			t.Errorf("%s is left with %+v", name, g)
		}
	}
}

// On a tick tenant.* refers to the tenant of each running task.
func TestTenantOfARunningTask(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	must(t, rt.RegisterTenants(Tenants{Label: "tenant"}))
	r := register(t, rt, Policy{Name: "stop", On: Every(time.Millisecond), Expr: `tenant.name == "bad" and tenant.running > duration("5ms") ? throw("enough") : continue()`})
	good := rt.Go(background, "job", func(ctx context.Context) error {
		for r.Stats().Throws == 0 {
			SafePoint(ctx)
		}
		return nil
	})
	bad := rt.Go(WithLabel(background, "tenant", "bad"), "job", spinForever)
	preemption(t, bad.Wait(background))
	must(t, good.Wait(background))
	if st := rt.Loop().Stats().Tenants; st["bad"].Thrown != 1 || st[""].Thrown != 0 {
		t.Errorf("%+v", st)
	}
}

// A million distinct values without accounts are counted as "other", and cost no more than the
// accounts.
func TestAMillionTenants(t *testing.T) {
	n := longtest.Count(1_000_000, 50_000)
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	must(t, rt.RegisterTenants(Tenants{Label: "tenant", Shares: map[string]int{"vip": 5}, Max: 100}))
	ran := 0
	for i := range n {
		ctx := WithLabel(background, "tenant", fmt.Sprint("tenant-", i))
		must(t, rt.Run(ctx, "job", func(context.Context) error { ran++; return nil }))
	}
	must(t, rt.Run(WithLabel(background, "tenant", "vip"), "job", idle))
	register(t, rt, Policy{Name: "new-names", On: OnEnqueue, Expr: `arriving.labels["unheard"] == "of" ? throw("x") : continue()`})
	st := rt.Loop().Stats().Tenants
	if n := log.count("there is no room for the account of another tenant"); n != 1 {
		t.Errorf("%d lines of the log say that there is no room", n)
	}
	if len(st) != 102 || st["other"].Ended != n-100 || st["vip"].Ended != 1 || st["vip"].Share != 5 || ran != n {
		t.Errorf("%d accounts, other has %+v, vip %+v, %d ran", len(st), st["other"], st["vip"], ran)
	}
}

func TestTenantsAreChecked(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	for want, tenants := range map[string]Tenants{
		"the label has no name":                    {},
		`is not printable text`:                    {Label: "a\nb"},
		`the share of "a" is 0; want 1 to 1000000`: {Label: "t", Shares: map[string]int{"a": 0}},
		`the share of "b" is -1`:                   {Label: "t", Shares: map[string]int{"a": 1, "b": -1}},
		"max is -1":                                {Label: "t", Max: -1},
		"has 1025 bytes, and 1024 are allowed":     {Label: "t", Shares: map[string]int{strings.Repeat("x", 1025): 1}},
	} {
		if err := rt.RegisterTenants(tenants); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v; want one with %q", err, want)
		}
	}
	for _, expr := range []string{`rank(arriving.virtual_time)`, `tenant.queued > 1 ? throw("x") : continue()`} {
		if _, err := rt.RegisterPolicy(Policy{Name: "p", On: OnEnqueue, Expr: expr}); !errors.Is(err, errNoTenants) {
			t.Errorf("%s: error %v", expr, err)
		}
	}
	must(t, rt.RegisterTenants(Tenants{Label: "t", Shares: map[string]int{"a": 2}}))
	must(t, rt.Run(WithLabel(background, "t", "a"), "job", idle))
	must(t, rt.RegisterTenants(Tenants{Label: "t", Shares: map[string]int{"a": 7}}))
	if st := rt.Loop().Stats().Tenants["a"]; st.Share != 7 || st.Ended != 1 {
		t.Errorf("after the shares changed: %+v", st)
	}
	if err := rt.RegisterTenants(Tenants{Label: "other"}); !errors.Is(err, ErrDuplicate) {
		t.Errorf("another label: %v", err)
	}
}

// A name that is too long for policies gets no account.
func TestTenantsOfLongNames(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterTenants(Tenants{Label: "tenant"}))
	register(t, rt, Policy{Name: "p", On: OnEnqueue, Expr: `tenant.name == "other" and arriving.labels.tenant != "" ? throw("too long") : continue()`})
	for i := range 10 {
		long := strings.Repeat(fmt.Sprint(i), stubs.MaxName+1)
		if pe := preemption(t, rt.Run(WithLabel(background, "tenant", long), "job", idle)); pe.Reason != "too long" {
			t.Errorf("%v", pe)
		}
	}
	must(t, rt.Run(WithLabel(background, "tenant", strings.Repeat("x", stubs.MaxName)), "job", idle))
	if st := rt.Loop().Stats().Tenants; len(st) != 2 || st["other"].Thrown != 10 {
		t.Errorf("%d accounts, other has %+v", len(st), st["other"])
	}
}

// A document's tenants are registered completely or not at all.
func TestTenantsOfADocument(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	doc := "version: 1\ntenants: {label: tenant, shares: {gold: 3}}\norder: fair\n"
	if err := rt.LoadPolicies(strings.NewReader(doc + "policies: [{name: order, on: exit, expr: continue()}]")); err == nil {
		t.Fatal("two policies of one name")
	}
	if err := rt.LoadPolicies(strings.NewReader(doc + "policies: [{name: p, on: exit, expr: nonsense}]")); err == nil || rt.tenants.Load() != nil {
		t.Fatalf("error %v, tenants %v", err, rt.tenants.Load())
	}
	must(t, rt.LoadPolicies(strings.NewReader(doc)))
	must(t, rt.Run(WithLabel(background, "tenant", "gold"), "job", idle))
	if st := rt.Loop().Stats().Tenants["gold"]; st.Share != 3 || rt.tenants.Load().label != stubs.Intern("tenant") {
		t.Errorf("%+v", st)
	}
}

// Tenants named by policies have accounts of their own, however many tenants came first. They lose
// the accounts when no policy names them.
func TestTenantsThatPoliciesName(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterTenants(Tenants{Label: "tenant", Max: 4}))
	as := func(tenant string) error { return rt.Run(WithLabel(background, "tenant", tenant), "job", idle) }
	for i := range 100 {
		must(t, as(fmt.Sprint("flood-", i)))
	}
	f := newPolicyFile(t)
	for i := range 50 {
		name := fmt.Sprint("acme-", i)
		must(t, f.load(t, rt, fmt.Sprintf(`policies: [{name: p, on: enqueue, expr: 'tenant.name == %q and tenant.tasks == 1 ? throw("acme") : continue()'}]`, name)))
		if pe := preemption(t, as(name)); pe.Reason != "acme" {
			t.Fatalf("%s: %v", name, pe)
		}
		must(t, as("later"))
	}
	if n := len(rt.Loop().Stats().Tenants); n > 6 {
		t.Errorf("%d accounts", n)
	}
}

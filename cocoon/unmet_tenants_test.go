package cocoon

import (
	"slices"
	"testing"

	"github.com/cocoon-go/cocoon/notify"
)

func unmetIs(t *testing.T, rt *Runtime, what string, want ...string) {
	t.Helper()
	if got := rt.Stats().Unmet; !slices.Equal(got, want) {
		t.Errorf("%s: %q; want %q", what, got, want)
	}
}

// A misspelt label of the tenants, and a share of a tenant that never comes, are reported, and
// logged without any policy.
func TestUnmetTenants(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	load(t, rt, "tenants: {label: tenat, shares: {gold: 3, silvr: 2}}")
	must(t, rt.Run(WithLabel(background, "tenant", "gold"), "job", idle))
	unmetIs(t, rt, "a misspelt label", "gold", "silvr", "tenat")
	rt.unmetAt.Store(notify.Now())
	rt.timer.WakeAt(notify.Now())
	eventually(t, "the log", func() bool { return log.count(`names="[gold silvr tenat]"`) == 1 })
	if n := log.count("tenants: the shares have no effect"); n != 1 {
		t.Errorf("%d lines about shares without an order", n)
	}

	rt = start(t, Config{Slots: 1})
	must(t, rt.RegisterTenants(Tenants{Label: "tenant", Shares: map[string]int{"gold": 3, "silvr": 2}}))
	must(t, rt.Run(WithLabel(background, "tenant", "gold"), "job", idle))
	unmetIs(t, rt, "a misspelt share", "silvr")
}

// A constant key of a state is unmet until a policy can have written it: as a constant, or as the
// name of a task, a tenant or a label.
func TestUnmetKeys(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	load(t, rt, `
states: {constant: {first: 0, keys: 9}, task: {first: 0, keys: 9}, label: {first: 0, keys: 9}, own: {first: 0, keys: 9}}
policies:
- {name: reads, on: enqueue, expr: 'state.constant["a"] + state.constant["b"] + state.task["get"] + state.task["gte"] + state.label["x"] + state.label["y"] > 3 ? throw("x") : continue()'}
- {name: writes, on: exit, expr: 'add("constant", "a", 1); add("task", task.name, 1); add("label", task.labels.l, 1)'}
- {name: private, on: exit, state: {p: {first: 0, keys: 9}}, expr: 'state.p["z"] > 3 ? cancel() : add("p", "zz", 1)'}
`)
	unmetIs(t, rt, "before", "b", "get", "gte", "l", "x", "y", "z")
	must(t, rt.Run(WithLabel(background, "l", "x"), "get", idle))
	unmetIs(t, rt, "after a task", "b", "gte", "y", "z")
}

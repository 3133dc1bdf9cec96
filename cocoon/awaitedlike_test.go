package cocoon

import "testing"

// Patterns of labels, events, tenants and loops are unmet until a name has matched them. The entry of
// default is about no name.
func TestUnmetPatterns(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	load(t, rt, `
tasks: {get: safe, default: safe}
tenants: {label: tenant}
policies:
- {name: label, on: start, expr: 'task.labels.tier in pattern("go*") or task.labels.tier in pattern("glo*") ? throw("x") : continue()'}
- {name: tenant, on: start, expr: 'tenant.name in pattern("ac*") or tenant.name in pattern("am*") ? throw("x") : continue()'}
- {name: event, on: custom, expr: '(event.name in pattern("db/*") or event.name in pattern("dd/*")) and event.value > 1 ? cancel() : continue()'}
- {name: loop, on: exit, expr: '(loop.name in pattern("def*") or loop.name in pattern("bulk*")) and task.kind == "both" ? cancel() : continue()'}
`)
	unmetIs(t, rt, "before", "ac*", "am*", "bulk*", "db/*", "dd/*", "get", "glo*", "go*", "tenant", "tier")
	err := rt.Run(WithLabel(WithLabel(background, "tenant", "acme"), "tier", "gold"), "get", idle)
	if err == nil {
		t.Error("the pattern of the label does not match")
	}
	rt.Notify("db/read", 1)
	unmetIs(t, rt, "after", "am*", "bulk*", "dd/*", "glo*")
	load(t, rt, `policies: [{name: later, on: start, expr: 'task.labels.tier in pattern("si*") and task.priority > 0 ? throw("x") : continue()'}]`)
	unmetIs(t, rt, "with another policy", "am*", "bulk*", "dd/*", "glo*", "si*")
}

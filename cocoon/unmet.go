package cocoon

import (
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/analyzer"
)

// unmet returns, sorted, the names that code, documents and policies refer to and that have matched
// nothing yet. Called with regMu held.
func (rt *Runtime) unmet() []string { return slices.Sorted(maps.Keys(rt.unmetNames().names)) }

// unmetNames collects the names for unmet. Called with regMu held.
func (rt *Runtime) unmetNames() unmetNames {
	u := unmetNames{names: map[string][]string{}, sections: map[string]bool{}, tasks: map[string]bool{}}
	said := func(name, place string) {
		if rt.funcs[name] == nil {
			u.task(name, place, rt.taskMet(name), rt.sectionMet(name))
		}
	}
	for name := range rt.naming.registered {
		said(name, "code")
	}
	for name, d := range rt.naming.declared {
		if whole, one := d.pattern.Name(); one {
			said(whole, "tasks")
		} else if !d.met.Load() && name != "*" { // default, which says nothing about names
			u.note(name, "tasks")
		}
	}
	for _, r := range rt.policies {
		r.now.unmet(u)
	}
	rt.unmetTenants(u)
	for _, label := range rt.canaries.labels() {
		if !awaited.has(ofLabel(label)) {
			u.note(label, "canary")
		}
	}
	for _, name := range rt.unmetKept() {
		u.note(name, "never-unwind")
	}
	for _, k := range analyzer.KeyReads(rt.members()) {
		if !slices.ContainsFunc(k.By, rt.met) {
			u.note(k.Key, "expression of "+k.Name)
		}
	}
	return u
}

// unmetTenants adds the label of the tenants, if no task has had it, and the tenants with shares
// that have had no task. Called with regMu held.
func (rt *Runtime) unmetTenants(u unmetNames) {
	table := rt.tenants.Load()
	if table == nil {
		return
	}
	if !rt.anyTenant() {
		u.note(table.text, "tenants")
	}
	for _, name := range table.listed {
		if !rt.hasTenant(name) {
			u.note(name, "tenants")
		}
	}
}

// anyTenant reports whether a task has had the label of the tenants.
func (rt *Runtime) anyTenant() bool {
	return rt.tenantWith(func(name string) bool { return name != "" })
}

// unmetLoops returns, sorted, the loops that policies name and that do not exist. Called with regMu
// held.
func (rt *Runtime) unmetLoops() []string {
	names := map[string]bool{}
	for _, r := range rt.policies {
		for _, name := range r.now.unmetLoops() {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

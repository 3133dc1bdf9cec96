package cocoon

import (
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/stubs"
)

// unmet returns the names that something is said of, and that nothing has had yet, sorted: of tasks and, where policies speak of
// them, of sections. Called with regMu held.
func (rt *Runtime) unmet() []string {
	names := map[string]bool{}
	said := func(name string) {
		if rt.funcs[name] == nil && !rt.taskMet(name) {
			names[name] = true
		}
	}
	for name := range rt.naming.registered {
		said(name)
	}
	for name := range rt.naming.declared {
		said(name)
	}
	for _, r := range rt.policies {
		for _, name := range r.now.speaksOf() {
			if !rt.taskMet(name) && !rt.sectionMet(name) {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// taskMet reports whether some task has had the name.
func (rt *Runtime) taskMet(name string) bool {
	c, ok := rt.naming.classes.Load(name)
	return ok && c.(*class).met.Load()
}

// speaksOf returns the names of tasks and sections that the policy is about.
func (v *version) speaksOf() []string {
	names := slices.Clone(v.spec.Match.Tasks)
	for _, r := range v.verified.Program().Reads {
		if r.Stub == stubs.TaskSections {
			names = append(names, r.Key)
		}
	}
	return names
}

package cocoon

import (
	"maps"
	"slices"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/stubs"
)

// nameSet is a set of names, to which names are added by many and often: each writes to memory once.
type nameSet [stubs.MaxNames / 64]atomic.Uint64

func (s *nameSet) add(n stubs.NameID) {
	if word, bit := &s[n/64], uint64(1)<<(n%64); word.Load()&bit == 0 {
		word.Or(bit)
	}
}

func (s *nameSet) has(n stubs.NameID) bool { return s[n/64].Load()>>(n%64)&1 != 0 }

// unmet returns the names that something is said of, and that nothing has had yet, sorted: of tasks and, where policies speak of
// them, of sections. Called with regMu held.
func (rt *Runtime) unmet() []string {
	names := map[string]bool{}
	for name, c := range rt.named {
		if rt.funcs[name] == nil && !c.met.Load() {
			names[name] = true
		}
	}
	for _, r := range rt.policies {
		for _, name := range r.now.speaksOf() {
			if !rt.taskMet(name) && !rt.sections.has(stubs.Intern(name)) {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// taskMet reports whether some task has had the name.
func (rt *Runtime) taskMet(name string) bool {
	c, ok := rt.classes.Load(name)
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

package cocoon

import (
	"slices"

	"github.com/cocoon-go/cocoon/stubs"
)

// chosen is a lead for the tasks in the selectors and, if names is not nil, with one of the names.
type chosen struct {
	in    []*selector
	names []stubs.NameID
	lead  byKind
}

func (c *chosen) has(class *class, rt *Runtime) bool {
	for _, s := range c.in {
		if !class.in(s, rt) {
			return false
		}
	}
	return c.names == nil || slices.Contains(c.names, class.id)
}

// names returns the names of the tasks that the way applies to, among match. An empty match stands
// for all names. some is false if the way applies to all names except a few.
func (w *way) names(match []stubs.NameID) (ids []stubs.NameID, some bool) {
	ids, some = match, len(match) > 0
	for i := range w.fixed {
		f := &w.fixed[i]
		if f.read.stub != stubs.TaskName {
			continue
		}
		if own, ok := f.value.Names(); ok {
			if some {
				own = slices.DeleteFunc(slices.Clone(ids), func(n stubs.NameID) bool { return !f.value.Allows(uint64(n)) })
			}
			ids, some = own, true
		}
	}
	return ids, some
}

// selectors returns the selectors that must contain a task for the way to apply to it. It may omit
// some.
func (w *way) selectors(b *bound) (in []*selector) {
	if b.match != nil {
		in = append(in, b.match)
	}
	for i := range w.fixed {
		if f := &w.fixed[i]; f.read.stub == textRead && f.read.selector != nil && f.read.of == stubs.TaskName && !f.value.Allows(0) {
			in = append(in, f.read.selector)
		}
	}
	return in
}

// awaits reports whether policies refer to the section and no task has opened it so far.
func (k *leads) awaits(section string) bool {
	return slices.ContainsFunc(k.unmet, func(s sectionKey) bool {
		return s.in == nil && s.name == section || s.in != nil && s.in.selects(section)
	})
}

// sectionKey is the key of task.sections: a name, or a pattern of names.
type sectionKey struct {
	name string
	in   *selector // nil: the key is a name
}

// hasHad reports whether any section has had a name of the key.
func (rt *Runtime) hasHad(key sectionKey) bool {
	if key.in != nil {
		return key.in.sectionMet.Load()
	}
	return rt.sectionMet(key.name)
}

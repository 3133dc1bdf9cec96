package cocoon

import (
	"slices"

	"github.com/cocoon-go/cocoon/stubs"
)

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

// hasHad reports whether any section has had a name of the key.
func (rt *Runtime) hasHad(key sectionKey) bool {
	if key.in != nil {
		return key.in.sectionMet.Load()
	}
	return rt.sectionMet(key.name)
}

// matches reports whether the policy applies to tasks like s.
func (b *bound) matches(s *strand) bool {
	return b.matchesKind(s.core.Kind) && b.matchesName(s.task.class) && b.takes(s)
}

func (b *bound) matchesName(c *class) bool {
	if b.match != nil {
		return c.in(b.match, b.loop.rt)
	}
	return len(b.names) == 0 || slices.Contains(b.names, c.id)
}

func (b *bound) matchesKind(k Kind) bool { return b.kinds == 0 || b.kinds&(1<<k) != 0 }

// watches reports whether ticks of a time policy may have a result for s, which runs. A policy that
// can only throw ignores a task until the pending throw has arrived; arm is called then.
func (b *bound) watches(s *strand) bool {
	return b.concerns(s) && !(b.once && s.pending != nil && b.mode() == Enforce)
}

// guards reports whether the policy must be evaluated for tasks that find a free slot. In that case
// no task waits or needs room.
func (b *bound) guards() bool { return !b.mild && !b.version.queued && !b.silent() }

// concerns reports whether an evaluation for s, which runs, may have a result. A mild policy need
// not be evaluated for a task that cannot be switched out. Places in the queue are given on
// enqueue, by arriving and returning.
func (b *bound) concerns(s *strand) bool { return b.concernsKind(s.core.Kind) && b.matches(s) }

func (b *bound) concernsKind(k Kind) bool { return b.matchesKind(k) && (!b.mild || k&Preemptible != 0) }

// running calls f for each strand that runs on the loop. Called under the loop's lock, after
// gather.
func (l *Loop) running(f func(*strand) (more bool)) {
	for i := range l.slots {
		if s := l.slots[i].firm(); s != nil && !f(s) {
			return
		}
	}
	for _, s := range l.absent.lent {
		if !f(s) {
			return
		}
	}
}

// sectionMet reports whether any section has had the name.
func (rt *Runtime) sectionMet(name string) bool {
	_, ok := rt.naming.sections.Load(name)
	return ok
}

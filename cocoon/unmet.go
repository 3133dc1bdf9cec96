package cocoon

import (
	"log/slog"
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// unmet returns, sorted, the names that code, documents and policies refer to and that have matched
// nothing yet. Called with regMu held.
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
	for name, d := range rt.naming.declared {
		if whole, one := d.pattern.Name(); one {
			said(whole)
		} else if !d.met.Load() {
			names[name] = true
		}
	}
	for _, r := range rt.policies {
		r.now.unmet(names)
	}
	rt.unmetTenants(names)
	for _, name := range rt.unmetKept() {
		names[name] = true
	}
	for _, k := range analyzer.KeyReads(rt.members()) {
		if !slices.ContainsFunc(k.By, rt.met) {
			names[k.Key] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// taskMet reports whether any task has had the name.
func (rt *Runtime) taskMet(name string) bool {
	c, ok := rt.naming.classes.Load(name)
	return ok && c.(*class).met.Load()
}

// metLike reports whether any task, and whether any section, has had the name, or a name that the
// pattern matches. Called with regMu held.
func (rt *Runtime) metLike(text string) (byTask, bySection bool) {
	p, _ := lang.ParsePattern(text)
	if name, one := p.Name(); one {
		return rt.taskMet(name), rt.sectionMet(name)
	}
	for _, s := range *rt.naming.selectors.Load() {
		if s != nil && s.key == patternKey+text {
			return s.taskMet.Load(), s.sectionMet.Load()
		}
	}
	s := selector{selects: p.Matches} // no loop has a policy with it
	s.meet(&rt.naming)
	return s.taskMet.Load(), s.sectionMet.Load()
}

func either(a, b bool) bool { return a || b }

// unmet adds the names that the policy refers to and that have matched nothing yet. Called with
// regMu held.
func (v *version) unmet(names map[string]bool) {
	rt, p := v.of.rt, v.verified.Program()
	note := func(name string, met bool) {
		if !met {
			names[name] = true
		}
	}
	called := func(name string) bool { return rt.taskMet(name) || rt.sectionMet(name) }
	for _, name := range v.spec.Match.Tasks { // sections are no tasks
		byTask, _ := rt.metLike(name)
		note(name, byTask)
	}
	for _, name := range v.spec.Match.Except { // or the names of other limits, of sections too
		note(name, either(rt.metLike(name)))
	}
	for _, name := range v.spec.Match.Loops {
		note(name, rt.hasLoop(name))
	}
	for _, m := range v.awaits() {
		if m.Name == "" {
			note(m.Read.Key, awaited.has(m))
		} else {
			note(m.Name, awaited.has(m))
		}
	}
	for _, r := range p.Reads {
		switch r.Stub {
		case stubs.TaskName, stubs.ArrivingName, stubs.TaskSection, stubs.TaskSections:
			if r.Pattern != "" {
				note(r.Pattern, either(rt.metLike(r.Pattern)))
			} else if r.Key != "" {
				note(r.Key, called(r.Key))
			}
		}
	}
	for _, m := range v.mentions() {
		if m.Listed {
			continue
		}
		if !isAwaited(m.Read) {
			note(m.Name, rt.met(m))
		}
	}
}

// met reports whether the stub of the mention has had its name. Called with regMu held.
func (rt *Runtime) met(m ir.Mention) bool {
	switch m.Read.Stub {
	case stubs.TaskName, stubs.ArrivingName, stubs.TaskSection, stubs.TaskStack:
		return rt.taskMet(m.Name) || rt.sectionMet(m.Name)
	case stubs.LoopName:
		return rt.hasLoop(m.Name)
	case stubs.TenantName:
		return rt.hasTenant(m.Name)
	}
	return !isAwaited(m.Read) || awaited.has(m)
}

// unmetTenants adds the label of the tenants, if no task has had it, and the tenants with shares
// that have had no task. Called with regMu held.
func (rt *Runtime) unmetTenants(names map[string]bool) {
	table := rt.tenants.Load()
	if table == nil {
		return
	}
	if !rt.anyTenant() {
		names[table.text] = true
	}
	for _, name := range table.listed {
		if !rt.hasTenant(name) {
			names[name] = true
		}
	}
}

func (rt *Runtime) hasLoop(name string) bool {
	return slices.ContainsFunc(*rt.loops.Load(), func(l *Loop) bool { return l.cfg.Name == name })
}

func (rt *Runtime) hasTenant(name string) bool {
	return slices.ContainsFunc(*rt.loops.Load(), func(l *Loop) bool {
		l.lock()
		defer l.unlock()
		return l.tenants[stubs.Intern(name)] != nil
	})
}

// anyTenant reports whether a task has had the label of the tenants.
func (rt *Runtime) anyTenant() bool {
	return slices.ContainsFunc(*rt.loops.Load(), func(l *Loop) bool {
		l.lock()
		defer l.unlock()
		for _, t := range l.tenants {
			if t.text != "" {
				return true
			}
		}
		return false
	})
}

// listened logs the unmet names if they are due, and returns when they are.
func (rt *Runtime) listened(now int64) (next int64) {
	at := rt.unmetAt.Load()
	switch {
	case at == 0:
		return notify.Never
	case now < at:
		return at
	}
	rt.unmetAt.Store(0)
	go rt.tellUnmet()
	return notify.Never
}

// tellUnmet logs the unmet names, each once as long as it is unmet.
func (rt *Runtime) tellUnmet() {
	rt.lookForKept()
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	names := rt.unmet()
	news := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(rt.told, name) })
	rt.tellIdleStates()
	if rt.told = names; len(news) > 0 {
		rt.log.add(slog.LevelWarn, "cocoon: policies or documents refer to names that have matched nothing so far; they may be misspelt, or name functions in a document that cocoon build has not seen (-cocoon.policies)", "names", news)
	}
}

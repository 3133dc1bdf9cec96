package cocoon

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// unmetNames collects names that have matched nothing yet.
type unmetNames struct {
	names    map[string][]string // and where they stand
	sections map[string]bool     // the names of tasks that only sections have had
	tasks    map[string]bool     // the names of sections that only tasks have had
}

// note notes a name that stands at a place.
func (u unmetNames) note(name, place string) {
	if !slices.Contains(u.names[name], place) {
		u.names[name] = append(u.names[name], place)
	}
}

// places returns the names with where they stand, as in "GET /rport (tasks; match of shed)".
func (u unmetNames) places(names []string) (all []string) {
	for _, name := range names {
		all = append(all, fmt.Sprintf("%s (%s)", name, strings.Join(u.names[name], "; ")))
	}
	return all
}

// task notes a name that stands for tasks.
func (u unmetNames) task(name, place string, byTask, bySection bool) {
	if !byTask {
		u.note(name, place)
		if bySection {
			u.sections[name] = true
		}
	}
}

// section notes a name that stands for sections.
func (u unmetNames) section(name, place string, byTask, bySection bool) {
	if !bySection {
		u.note(name, place)
		if byTask {
			u.tasks[name] = true
		}
	}
}

// unmet adds the names that the policy refers to and that have matched nothing yet. Called with
// regMu held.
func (v *version) unmet(u unmetNames) {
	rt, match, text := v.of.rt, "match of "+v.spec.Name, "expression of "+v.spec.Name
	if strings.HasPrefix(v.spec.Name, "time-limit/") {
		match, text = "limits", "limits"
	}
	note := func(name, place string, met bool) {
		if !met {
			u.note(name, place)
		}
	}
	for _, name := range v.spec.Match.Tasks {
		byTask, bySection := rt.metLike(name)
		u.task(name, match, byTask, bySection)
	}
	for _, name := range v.spec.Match.Except { // or the names of other limits, of sections too
		byTask, bySection := rt.metLike(name)
		note(name, match, byTask || bySection)
	}
	for _, m := range v.awaits() {
		place := text
		if m.Name != "" && m.Name == v.spec.On.Custom {
			place = "event of " + v.spec.Name
		}
		note(cmp.Or(m.Name, m.Read.Pattern, m.Read.Key), place, awaited.has(m))
	}
	v.unmetCalls(u, text)
	for _, m := range v.mentions() {
		if !m.Listed && !isAwaited(m.Read) && !isCall(m.Read.Stub) {
			note(m.Name, text, rt.met(m))
		}
	}
	for _, r := range v.verified.Program().Reads {
		if r.Stub == stubs.TenantName && r.Pattern != "" {
			note(r.Pattern, text, rt.tenantLike(r.Pattern))
		}
	}
	for _, name := range v.unmetLoops() {
		place := text
		if slices.Contains(v.spec.Match.Loops, name) {
			place = match
		}
		u.note(name, place)
	}
}

// unmetCalls adds the names of tasks and sections in the expression. A name that the policy uses
// for both, as a limit does, may be of either.
func (v *version) unmetCalls(u unmetNames, place string) {
	asTask, asSection := map[string]bool{}, map[string]bool{}
	note := func(name string, stub stubs.ID) {
		if stub == stubs.TaskName || stub == stubs.ArrivingName {
			asTask[name] = true
		} else {
			asSection[name] = true
		}
	}
	for _, r := range v.verified.Program().Reads {
		switch {
		case !isCall(r.Stub):
		case r.Pattern != "":
			note(r.Pattern, r.Stub)
		case r.Key != "":
			note(r.Key, r.Stub)
		}
	}
	for _, m := range v.mentions() {
		if !m.Listed && isCall(m.Read.Stub) {
			note(m.Name, m.Read.Stub)
		}
	}
	for name := range asTask {
		byTask, bySection := v.of.rt.metLike(name)
		u.task(name, place, byTask || bySection && asSection[name], bySection)
	}
	for name := range asSection {
		byTask, bySection := v.of.rt.metLike(name)
		u.section(name, place, byTask, bySection || byTask && asTask[name])
	}
}

// isCall reports whether a stub is the name of a task, or of sections.
func isCall(stub stubs.ID) bool {
	switch stub {
	case stubs.TaskName, stubs.ArrivingName, stubs.TaskSection, stubs.TaskSections, stubs.TaskStack:
		return true
	}
	return false
}

// unmetLoops returns the loops that the policy names and that do not exist. Called with regMu held.
func (v *version) unmetLoops() []string {
	names := slices.Clone(v.spec.Match.Loops)
	for _, m := range v.mentions() {
		if m.Read.Stub == stubs.LoopName && !m.Listed {
			names = append(names, m.Name)
		}
	}
	names = slices.DeleteFunc(names, v.of.rt.hasLoop)
	for _, r := range v.verified.Program().Reads {
		if r.Stub == stubs.LoopName && r.Pattern != "" && !v.of.rt.loopLike(r.Pattern) {
			names = append(names, r.Pattern)
		}
	}
	return names
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

func (rt *Runtime) hasLoop(name string) bool {
	return slices.ContainsFunc(*rt.loops.Load(), func(l *Loop) bool { return l.cfg.Name == name })
}

func (rt *Runtime) loopLike(pattern string) bool {
	p, _ := lang.ParsePattern(pattern)
	return slices.ContainsFunc(*rt.loops.Load(), func(l *Loop) bool { return p.Matches(l.cfg.Name) })
}

func (rt *Runtime) hasTenant(name string) bool {
	return slices.ContainsFunc(*rt.loops.Load(), func(l *Loop) bool {
		l.lock()
		defer l.unlock()
		return l.tenants[stubs.Intern(name)] != nil
	})
}

// tenantLike reports whether a tenant with an account has a name that the pattern matches.
func (rt *Runtime) tenantLike(pattern string) bool {
	p, _ := lang.ParsePattern(pattern)
	return rt.tenantWith(p.Matches)
}

// tenantWith reports whether a condition holds for the name of a tenant with an account.
func (rt *Runtime) tenantWith(holds func(name string) bool) bool {
	return slices.ContainsFunc(*rt.loops.Load(), func(l *Loop) bool {
		l.lock()
		defer l.unlock()
		for _, t := range l.tenants {
			if holds(t.text) {
				return true
			}
		}
		return false
	})
}

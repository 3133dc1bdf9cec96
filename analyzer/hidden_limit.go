package analyzer

import (
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// hiddenLimits returns warnings about limits that end nothing, because another policy throws into
// the same tasks, or the same sections, before. A limit is about tasks and sections of its name,
// and a name is either of tasks or of sections: a policy that names the one hides the limit.
func hiddenLimits(members []Member, tasks map[string]document.Class) (all []Remark) {
	asTask, asSection := map[string][]Member{}, map[string][]Member{} // the policies that name it so
	for _, m := range members {
		if strings.HasPrefix(m.Spec.Name, limitPrefix) {
			continue
		}
		p, names := m.Verified.program, map[string]bool{}
		for _, name := range slices.Concat(m.Spec.Match.Tasks, m.Spec.Match.Except) {
			names[name] = true
		}
		for _, mention := range p.Mentions() {
			if mention.Read.Stub == stubs.TaskName || mention.Read.Stub == stubs.ArrivingName {
				names[mention.Name] = true
			}
		}
		for name := range names {
			asTask[name] = append(asTask[name], m)
		}
		for name := range sectionsOf(p) {
			asSection[name] = append(asSection[name], m)
		}
	}
	if len(asTask)+len(asSection) == 0 {
		return nil // without a look at limits, of which there may be thousands
	}
	for _, m := range members {
		name, ok := m.limitOf()
		if !ok || m.Spec.Mode == policy.Off || len(asTask[name])+len(asSection[name]) == 0 {
			continue
		}
		by, section := asTask[name], false
		_, declared := tasks[name]
		if isTask := declared || len(by) > 0; !isTask {
			by, section = asSection[name], true
		} else if len(asSection[name]) > 0 {
			continue // it may be of both
		}
		half, ok := m.half(name, section)
		if !ok {
			continue
		}
		for _, o := range by {
			if o.Verified.program.On != stubs.Tick || !o.precedes(half, false) || !o.covers(half) || !sharesReads(o, half) {
				continue
			}
			if at := half.refusedBy(o); at != nil {
				all = append(all, half.remark(at, "lower this limit, raise the other one, or remove one of them",
					"the limit ends nothing: %s ends these tasks before", o.called()))
				break
			}
		}
	}
	return all
}

// sectionsOf returns the names and patterns of sections in a program.
func sectionsOf(p *ir.Program) map[string]bool {
	names := map[string]bool{}
	for _, mention := range p.Mentions() {
		if mention.Read.Stub == stubs.TaskSection || mention.Read.Stub == stubs.TaskStack {
			names[mention.Name] = true
		}
	}
	for _, r := range p.Reads {
		if r.Stub == stubs.TaskSections && r.Pattern == "" {
			names[r.Key] = true
		} else if r.Stub == stubs.TaskSections || r.Stub == stubs.TaskSection {
			names[r.Pattern] = true
		}
	}
	return names
}

// half returns a limit as a policy about the sections of its name alone, or about the tasks of its
// name alone.
func (m Member) half(name string, section bool) (half Member, ok bool) {
	p := *m.Verified.program
	root := *p.Root
	if root.Op != ir.OpIf || root.A.Op != ir.OpOr {
		return m, false
	}
	root.A = root.A.B
	if section {
		root.A = m.Verified.program.Root.A.A
	} else {
		m.Spec.Match.Tasks = []string{name}
	}
	p.Root = &root
	m.Verified.program = &p
	return m, true
}

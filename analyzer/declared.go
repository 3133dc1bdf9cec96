package analyzer

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// Mismatched returns warnings about policies that name tasks of kinds for which they do nothing, or
// tasks by misspelt names, and about limits below the declared cost of their tasks.
// tasks are the declarations of the documents, as in document.Document.
func Mismatched(members []Member, tasks map[string]document.Class) (all []Remark) {
	for _, m := range members {
		match, p := m.Spec.Match, m.Verified.program
		all = append(append(all, m.dear(tasks)...), m.vainExceptions()...)
		switches := p.On&stubs.Enqueue == 0 && p.MaySwitch()
		for _, name := range match.Tasks {
			declared := tasks[name].Kind
			kinds := possibleKinds(declared)
			switch {
			case p.Demotes() && p.On == stubs.Tick && declared == "atomic" && !narrower(tasks, name):
				all = append(all, m.about("match: the tasks %q are declared atomic, and on tick background() takes no slot from them: they keep it until they block or end", name))
			case switches && declared == document.Waits && !(isPattern(name) && narrower(tasks, name)):
				all = append(all, m.about("match: the tasks %q are declared to wait, and run without a slot: switch() suspends tasks of the kinds preemptible and both", name))
			case kinds == nil || isPattern(name):
			case len(match.Kinds) > 0 && !slices.ContainsFunc(match.Kinds, func(k string) bool { return slices.Contains(kinds, k) }):
				all = append(all, m.about("match: the tasks %q are declared %s, and match.kinds has other kinds only; the policy matches none of these tasks", name, declared))
			case p.On == stubs.Enqueue && p.MaySwitch() && declared == "preemptible" && !readsSafe(p):
				all = append(all, m.about("match: on enqueue the tasks are those that arrive, and %q is declared preemptible: only safe tasks start while another is suspended", name))
			case switches && declared == "atomic":
				all = append(all, m.about("match: the tasks %q are declared atomic, and switch() suspends tasks of the kinds preemptible and both", name))
			}
		}
	}
	return slices.Concat(all, misspelt(members, tasks), misspeltLoops(members), misspeltLabels(members, tasks), lookalikes(members), hiddenLimits(members, tasks))
}

// narrower reports whether documents declare tasks that a pattern matches, too.
func narrower(tasks map[string]document.Class, pattern string) bool {
	p, err := lang.ParsePattern(pattern)
	return err != nil || slices.ContainsFunc(slices.Collect(maps.Keys(tasks)), func(name string) bool {
		o, _ := lang.ParsePattern(name)
		return name != pattern && p.Covers(o)
	})
}

// readsSafe reports whether a program asks for waiting safe tasks.
func readsSafe(p *ir.Program) bool {
	return slices.ContainsFunc(p.Reads, func(r ir.Read) bool { return r.Stub == stubs.QueueSafe })
}

func (m Member) about(format string, args ...any) Remark {
	return Remark{document.Part{Kind: "policy", Name: m.Spec.Name}, fmt.Errorf(format, args...)}
}

// possibleKinds returns the kinds that a task may have if a document declares its kind: code may
// also register its function as safe or preemptible. nil is any kind.
func possibleKinds(declared string) []string {
	switch declared {
	case "atomic", "both":
		return []string{declared}
	case "safe", "preemptible":
		return []string{declared, "both"}
	}
	return nil
}

package analyzer

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// Unaccompanied returns warnings about policies that compare an arriving task with the running
// ones, where the documents declare no task that may be suspended: such a policy never sees a
// running task. Code may register preemptible functions, so the runtime does not use it: it looks
// at the tasks that have come. The same applies to switch() where the documents declare the kinds
// of all tasks, and none can be suspended. tasks are the declarations of the documents.
func Unaccompanied(members []Member, tasks map[string]document.Class) (all []Remark) {
	all = append(all, vainSwitch(members, tasks)...)
	for _, c := range tasks {
		if c.Kind == "preemptible" || c.Kind == "both" {
			return all
		}
	}
	for _, m := range members {
		p := m.Verified.program
		if m.Spec.Mode == policy.Off || p.On&stubs.Enqueue == 0 || !p.AsksRunning() || p.MaySwitch() {
			continue
		}
		i := slices.IndexFunc(p.Reads, func(r ir.Read) bool { return r.Stub <= stubs.TaskSlice })
		if i < 0 {
			continue
		}
		name := p.Reads[i].Name().String()
		all = append(all, m.remark(m.readAt(p.Reads[i]), "count tasks in a state, by a key; or declare the tasks preemptible, in a document or by RegisterPreemptibleFunc",
			"on enqueue %s is about running tasks that may be suspended, and no document declares a task preemptible or both: the policy sees none, and task.* is 0 or empty", name))
	}
	return all
}

// vainSwitch returns a warning about the first policy that suspends tasks, where the documents
// declare the kinds of all tasks, and none of them can be suspended, or none can run meanwhile.
func vainSwitch(members []Member, tasks map[string]document.Class) []Remark {
	rest, ok := tasks["*"]
	if !ok || rest.Kind == "" {
		return nil // the kinds of other tasks are unknown
	}
	suspended, safe := false, false
	for _, c := range tasks {
		suspended = suspended || c.Kind == "preemptible" || c.Kind == "both"
		safe = safe || c.Kind != "preemptible" && c.Kind != "atomic"
	}
	var why string
	switch {
	case !suspended:
		why = "tasks and default declare no task preemptible or both, so none is ever suspended"
	case !safe:
		why = "tasks and default declare no task safe or both, and only such a task starts while another is suspended"
	default:
		return nil
	}
	for _, m := range members {
		if p := m.Verified.program; m.Spec.Mode != policy.Off && p.MaySwitch() {
			return []Remark{m.remark(switchIn(p), "declare kinds in tasks, or by RegisterSafeFunc and RegisterPreemptibleFunc", "switch() does nothing: %s", why)}
		}
	}
	return nil
}

// switchIn returns the first switch() of a program.
func switchIn(p *ir.Program) (at *ir.Node) {
	p.Root.Any(func(n *ir.Node) bool {
		if at == nil && n.Op == ir.OpVerdict && stubs.Decision(n.Imm) == stubs.Switch {
			at = n
		}
		return at != nil
	})
	return at
}

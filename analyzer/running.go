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
// at the tasks that have come. tasks are the declarations of the documents.
func Unaccompanied(members []Member, tasks map[string]document.Class) (all []Remark) {
	for _, c := range tasks {
		if c.Kind == "preemptible" || c.Kind == "both" {
			return nil
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

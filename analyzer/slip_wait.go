package analyzer

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// waits warns of a throw that is about another wait than its author most likely means. On start it
// is the wait of the oldest task that still waits, and the throw meets the task that starts. On a
// tick it is the wait of the task, which the task has behind it. The same holds for the time that a
// task was blocked, on a tick and when it blocks again.
func (a *analysis) waits() (all []Warning) {
	if a.p.On != stubs.Start && a.p.On != stubs.Tick && a.p.On != stubs.Block {
		return nil
	}
	c := a.contraries(stubs.Throw)
	c.follow(a.p.Root, nil, func(n *ir.Node, conds []condition) {
		for _, part := range a.parts(conds) {
			g := grounds{}
			for _, cond := range part {
				a.readsIn(cond.Node, map[int]bool{}, &g)
			}
			if len(all) > 0 || g.about(func(r ir.Read) bool { return r.Stub == stubs.Draw }) {
				return
			}
			if at := a.follows(part, stubs.QueueOldest); a.p.On == stubs.Start && at != nil && !a.selects(g) && !g.about(ofTask) {
				all = []Warning{{a.p.Errorf(at, "write task.waited for the wait of the task that starts",
					"%s is about the oldest task that still waits, and %s meets the task that starts", a.text(at), a.text(n))}}
			}
			if at := a.follows(part, stubs.TaskWaited); a.p.On == stubs.Tick && at != nil && !g.about(changes) {
				all = []Warning{{a.p.Errorf(at, "evaluate the policy on start, or compare task.elapsed",
					"%s meets tasks that have their slot: policies see running tasks alone on a tick, and task.waited does not grow while a task runs", a.text(n))}}
			}
			if at := a.follows(part, stubs.TaskBlocked); a.p.On != stubs.Start && at != nil && !g.about(changes) {
				when := map[stubs.Event]string{stubs.Tick: "are back from their waits", stubs.Block: "begin another wait"}[a.p.On]
				all = []Warning{{a.p.Errorf(at, "give the wait a context with a deadline; or evaluate the policy on unblock",
					"%s meets tasks that %s: task.blocked does not grow while a policy sees the task, and ends no wait", a.text(n), when)}}
			}
		}
	})
	return all
}

// follows returns the condition that becomes true when a stub is high, or nil.
func (a *analysis) follows(part []condition, id stubs.ID) *ir.Node {
	i := slices.IndexFunc(part, func(c condition) bool { return a.slopeOf(c, source{stub: id}) == rising })
	if i < 0 {
		return nil
	}
	return part[i].Node
}

// ofTask reports whether a read is of the task or its tenant, or of something that is kept by task.
func ofTask(r ir.Read) bool { return r.Stub <= stubs.ClassService || r.By != nil }

// changes reports whether a read may change while a task runs. Its waits and its attributes do not.
func changes(r ir.Read) bool {
	switch r.Stub {
	case stubs.TaskWaited, stubs.TaskBlocked, stubs.TaskName, stubs.TaskKind, stubs.TaskPriority, stubs.TaskLabels, stubs.TenantName, stubs.LoopName:
		return false
	}
	return true
}

package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// slices warns of a switch on ticks once a task has run for a constant time, if no safe task need
// wait: the condition stays true, and each further slice of the task ends at the next tick.
func (a *analysis) slices() (all []Warning) {
	if a.p.On != stubs.Tick {
		return nil
	}
	// A policy that reads the sections, the times or the preemptions of the task, the IDs from
	// TaskSection to TaskPreemptions, distinguishes its slices.
	ofSlices := func(r ir.Read) bool {
		own := r.Stub >= stubs.TaskSection && r.Stub <= stubs.TaskPreemptions && r.Stub != stubs.TaskRunning
		return own || r.OfState() || r.Stub == stubs.TaskSlice || r.Stub == stubs.TaskStack || r.Stub == stubs.Draw
	}
	c := a.contraries(stubs.Switch)
	c.follow(a.p.Root, nil, func(n *ir.Node, conds []condition) {
		for _, part := range a.parts(conds) {
			g := grounds{}
			for _, cond := range part {
				a.readsIn(cond.Node, map[int]bool{}, &g)
			}
			if at := a.follows(part, stubs.TaskRunning); at != nil && len(all) == 0 && a.onlyReads(at, stubs.TaskRunning) && !g.about(ofSlices) && a.follows(part, stubs.QueueSafe) == nil {
				all = []Warning{{a.p.Errorf(at, "write task.slice for the time of this slice; or add queue.safe > 0, if long tasks make room for safe ones",
					"%s stays true, and %s ends each further slice at its first tick: task.running is the time of all slices", a.text(at), a.text(n))}}
			}
		}
	})
	return all
}

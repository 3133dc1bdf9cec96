package analyzer

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// reason is a kind of reason to refuse, end or suspend a task.
type reason uint8

const (
	load      reason = iota // the server, or a part of it, has much to do
	spent                   // the task has had, or needs, much time
	late                    // its deadline is near
	unurgent                // its priority is low
	abandoned               // its caller is gone
	allReasons
)

// stubReasons has the reason that each stub gives, and how the stub follows it. Nothing follows
// from the stubs of noReason. TestReasonsOfAllStubs compares both with the catalogue, so the author
// of a new stub decides.
var stubReasons = map[stubs.ID]struct {
	reason
	slope
}{
	stubs.TaskSectionRunning: {spent, rising}, stubs.TaskSections: {spent, rising}, stubs.TaskRunning: {spent, rising}, stubs.TaskElapsed: {spent, rising},
	stubs.TaskWaited: {spent, rising}, stubs.TaskBlocked: {spent, rising}, stubs.TaskPreemptions: {spent, rising}, stubs.TaskSlice: {spent, rising},
	stubs.ArrivingCost: {spent, rising}, stubs.ArrivingRunning: {spent, rising},

	stubs.TaskDeadline: {late, falling}, stubs.ArrivingDeadline: {late, falling},
	stubs.TaskPriority: {unurgent, falling}, stubs.ArrivingPriority: {unurgent, falling},
	stubs.TaskCancelled: {abandoned, rising},

	stubs.TenantTasks: {load, rising}, stubs.TenantQueued: {load, rising}, stubs.TenantBusy: {load, rising},
	stubs.TenantRunning: {load, rising}, stubs.TenantRate: {load, rising}, stubs.TenantThrown: {load, rising},
	stubs.ClassTasks: {load, rising}, stubs.ClassQueued: {load, rising}, stubs.ClassBusy: {load, rising}, stubs.ClassRunningMean: {load, rising},
	stubs.ClassWaitedMean: {load, rising}, stubs.ClassWait: {load, rising}, stubs.ClassService: {load, rising},
	stubs.QueueLength: {load, rising}, stubs.QueueSafe: {load, rising}, stubs.QueueSuspended: {load, rising},
	stubs.QueueOldest: {load, rising}, stubs.QueueWait: {load, rising}, stubs.QueueCost: {load, rising},
	stubs.LoopBusy: {load, rising}, stubs.LoopRate: {load, rising}, stubs.LoopService: {load, rising}, stubs.LoopUtilization: {load, rising},
	stubs.RuntimeTasks: {load, rising}, stubs.RuntimeGoroutines: {load, rising}, stubs.RuntimeHeap: {load, rising},
	stubs.RuntimeSchedLatency: {load, rising}, stubs.RuntimeCPU: {load, rising},
}

// noReason are the stubs that give no reason by being great or small.
var noReason = []stubs.ID{
	stubs.TaskName, stubs.TaskKind, stubs.TaskSection, stubs.TaskLabels, stubs.TaskStack, stubs.TaskBackground,
	stubs.ArrivingName, stubs.ArrivingKind, stubs.ArrivingVirtualTime, stubs.ArrivingLabels,
	stubs.TenantName, stubs.LoopName, stubs.LoopSlots, stubs.RuntimeUptime,
	stubs.ClockMinute, stubs.ClockHour, stubs.ClockWeekday, stubs.EventName, stubs.EventValue,
}

// reasonBy returns the reason that a stub gives, and how its value follows the reason; flat if it
// gives none.
func reasonBy(id stubs.ID) (reason, slope) {
	by := stubReasons[id]
	return by.reason, by.slope
}

// condition is a condition on the way to a verdict, and the value that it has there.
type condition struct {
	*ir.Node
	holds bool
}

// grounds are the conditions on the way to a verdict.
type grounds struct {
	right, wrong [allReasons]bool
	by           [allReasons]ir.Read // the wrong read
	wrongs       []stubs.ID          // all wrong stubs
	timely       bool                // a duration is right
	reads        []ir.Read           // of the conditions
	draws        bool                // a small share of tasks is drawn
}

// groundsOf returns the grounds of conditions. A stub that a condition follows in both ways counts
// as right: the condition is about a range.
func (a *analysis) groundsOf(conds []condition) (g grounds) {
	for _, c := range conds {
		a.readsIn(c.Node, map[int]bool{}, &g)
	}
	for _, r := range g.reads {
		why, wanted := reasonBy(r.Stub)
		if wanted == flat || r.Taken != ir.TakenWhole {
			continue
		}
		s := flat
		for _, c := range conds {
			if of := a.slope(c.Node, source{stub: r.Stub}); c.holds {
				s = s.and(of)
			} else {
				s = s.and(of.reversed())
			}
		}
		switch s {
		case flat:
		case wanted.reversed():
			g.wrongs = append(g.wrongs, r.Stub)
			if !g.wrong[why] {
				g.wrong[why], g.by[why] = true, r
			}
		default:
			g.right[why] = true
			g.timely = g.timely || r.Type == stubs.Duration
		}
	}
	return g
}

// fewTasks is the greatest share of tasks that a policy refuses to find out what happens.
const fewTasks = 0.1

// readsIn adds the reads of a condition. locals are the locals that readsIn has seen.
func (a *analysis) readsIn(n *ir.Node, locals map[int]bool, g *grounds) {
	n.Any(func(n *ir.Node) bool {
		switch {
		case n.Op == ir.OpLocal && !locals[n.Index] && a.named(n) != nil:
			locals[n.Index] = true
			a.readsIn(a.named(n), locals, g)
		case n.Op == ir.OpRead:
			g.reads = append(g.reads, a.reads[n.Index])
		case n.Op == ir.OpLt && n.A.Op == ir.OpRead && a.reads[n.A.Index].Stub == stubs.Draw:
			g.draws = g.draws || a.values[n.B].floats.hi <= fewTasks
		case n.Source.List:
			g.reads = append(g.reads, a.reads[n.Source.Offset])
		}
		return false
	})
}

// about reports whether a read of the conditions has a property.
func (g grounds) about(has func(ir.Read) bool) bool { return slices.ContainsFunc(g.reads, has) }

// wrongBy reports whether the conditions follow the stub the wrong way.
func (g grounds) wrongBy(id stubs.ID) bool { return slices.Contains(g.wrongs, id) }

package analyzer

import (
	"math"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// scene has the values of stubs at the arrival of a task that the policy should let in.
type scene struct {
	who, says string
	values    map[stubs.ID]uint64
}

// scenes are a task that arrives while the runtime has no other, and one that waits alone.
var scenes = []scene{
	{"arrives alone", "a server without other tasks lets none in", map[stubs.ID]uint64{
		stubs.QueueLength: 0, stubs.QueueSafe: 0, stubs.QueueSuspended: 0, stubs.QueueOldest: 0, stubs.QueueCost: 0, stubs.TenantQueued: 0, stubs.ClassQueued: 0,
		stubs.TenantRate: math.Float64bits(1), stubs.LoopRate: math.Float64bits(1), // they are equal
		stubs.TenantTasks: 1, stubs.TenantBusy: 1, stubs.ClassTasks: 1, stubs.ClassBusy: 1, stubs.LoopBusy: 1, stubs.RuntimeTasks: 1,
	}},
	{"is the only one to wait", "no task ever waits", map[stubs.ID]uint64{stubs.QueueLength: 1, stubs.TenantQueued: 1, stubs.ClassQueued: 1}},
}

// shareOfOne returns a warning about a share of the load by which a policy refuses a task that is
// alone: of one task, the tenant has all.
func (a *analysis) shareOfOne() []Warning {
	if a.p.On != stubs.Enqueue || !a.p.Root.Any(throws) {
		return nil
	}
	for _, s := range scenes {
		if found := a.refusedIn(s); found != nil {
			return []Warning{*found}
		}
	}
	return nil
}

func (a *analysis) refusedIn(s scene) (found *Warning) {
	some, lone := 0, newAnalysis(a.p, 0)
	for _, r := range a.p.Reads {
		if v, ok := s.values[r.Stub]; ok {
			lone.facts.learn(lone.facts.read(r), constant(r.Type, v))
			some++
		}
	}
	if some < 2 {
		return nil
	}
	lone.statement(a.p.Root)
	c := lone.contraries(stubs.Throw)
	c.follow(a.p.Root, nil, func(n *ir.Node, conds []condition) {
		if at := c.shareIn(s, a, conds); at != nil && found == nil {
			found = &Warning{a.p.Errorf(at, "count the tasks as well, as in runtime.tasks > 10 and ...",
				"%s is %v for a task that %s: %s refuses it, and %s", a.text(at), c.a.values[at].truth.yes, s.who, a.text(n), s.says)}
		}
	})
	return found
}

// shareIn returns a comparison of two counts that a lone task decides, on the way to a throw that
// nothing else prevents; free is the analysis of all tasks.
func (c *contraries) shareIn(s scene, free *analysis, conds []condition) (found *ir.Node) {
	for _, r := range c.a.groundsOf(conds).reads {
		why, way := reasonBy(r.Stub)
		if _, counted := s.values[r.Stub]; !counted && (why == load && way != flat || r.OfState() || r.Stub == stubs.Draw) {
			return nil // another reason may exclude the lone task
		}
	}
	for _, cond := range conds {
		c.a.within(cond.Node, func(n *ir.Node) {
			switch n.Op {
			case ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe:
			default:
				return
			}
			now, reached := c.a.values[n]
			if found == nil && reached && now.truth.constant() && !free.values[n].truth.constant() && c.a.counts(n, s) > 1 {
				found = n
			}
		})
	}
	return found
}

// within calls f with each operation of a condition, even in the body of a let.
func (a *analysis) within(n *ir.Node, f func(*ir.Node)) {
	n.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpLocal {
			if at := a.named(n); at != nil {
				a.within(at, f)
			}
		}
		f(n)
		return false
	})
}

// counts returns how many of the counts that a lone task decides an operation follows.
func (a *analysis) counts(n *ir.Node, s scene) (count int) {
	for id := range s.values {
		if a.slope(n, source{stub: id}) != flat {
			count++
		}
	}
	return count
}

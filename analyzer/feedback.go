package analyzer

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// trouble holds the stubs whose values are large when the server is slow. Counts of tasks are left
// out, because a limit may also rise with the demand; a flag that follows the queue's length does
// not.
var trouble = append(slices.Clone(crowd),
	stubs.QueueOldest, stubs.QueueWait, stubs.ClassWaitedMean, stubs.ClassWait, stubs.ClassService, stubs.ClassRunningMean,
	stubs.LoopService, stubs.RuntimeSchedLatency, stubs.RuntimeHeap, stubs.TaskElapsed, stubs.TaskWaited, stubs.TaskRunning,
)

// crowd holds the stubs of trouble that count for flags only, and not for limits.
var crowd = []stubs.ID{
	stubs.QueueLength, stubs.QueueCost, stubs.ClassQueued, stubs.TenantQueued, stubs.LoopBusy, stubs.LoopUtilization, stubs.RuntimeCPU, stubs.RuntimeGoroutines,
}

// feedback returns warnings about states that policies change in trouble so that fewer tasks are
// refused: limits that rise when tasks are slow, or a breaker that opens when they are fast. told
// holds the states that have a warning already.
func feedback(members []Member, told map[string]bool) (all []Remark) {
	counts := countsOf(members)
	for _, state := range slices.Sorted(maps.Keys(counts)) {
		by := counts[state].by
		refuses, at, verb := refusing(members, state)
		if told[state] || by[0].m.Verified.program.Sites[by[0].effect.Index].By != nil || refuses != rising && refuses != falling {
			continue
		}
		follows, first := flat, response{}
		for _, c := range by {
			now, known := c.inTrouble()
			if !known {
				follows = mixed
			}
			follows = follows.and(now.follows())
			if first.follows() == flat {
				first = now
			}
		}
		if follows == refuses.reversed() {
			all = append(all, first.by.m.remark(first.by.effect, "change it the other way round", "%s %s, and %s %s %s tasks then",
				first.by.m.text(first.by.effect), first.say(), at, verb, map[slope]string{rising: "fewer", falling: "more"}[first.when]))
		}
	}
	return all
}

// response is how an effect changes its state, and when: rising in trouble, falling without.
type response struct {
	by        counting
	way, when slope
}

// follows returns how the state follows the trouble.
func (r response) follows() slope {
	switch {
	case r.when == flat, r.way == flat:
		return flat
	case r.way == falling:
		return r.when.reversed()
	}
	return r.when
}

func (r response) say() string {
	does, server := map[slope]string{rising: "raises", falling: "lowers"}, map[slope]string{rising: "slow", falling: "fast"}
	return fmt.Sprintf("%s the state %s while the server is %s", does[r.way], r.by.state(), server[r.when])
}

// refusing returns how the refusals of arriving tasks, and the throws into running ones on ticks,
// follow a state, and one of them. A condition that compares a time with the state tells nothing:
// the state may be the usual time.
func refusing(members []Member, state string) (s slope, at, verb string) {
	for _, m := range members {
		p := m.Verified.program
		reads := slices.ContainsFunc(p.Reads, func(r ir.Read) bool { return r.Stub == stubs.State && m.own(r.Key) == state })
		if !reads || p.On != stubs.Enqueue && p.On != stubs.Tick || m.Spec.Mode == policy.Off || !p.Root.Any(throws) {
			continue
		}
		a := newAnalysis(p, 0)
		a.statement(p.Root)
		c := a.contraries(stubs.Throw)
		c.follow(p.Root, nil, func(n *ir.Node, conds []condition) {
			for _, cond := range conds {
				of := flat
				for _, r := range p.Reads {
					if r.Stub == stubs.State && m.own(r.Key) == state {
						of = of.and(c.a.slopeOf(cond, source{stubs.State, r.Key}))
					}
				}
				if of != flat && c.a.comparesTime(cond.Node) {
					of = mixed
				}
				if s = s.and(of); of != flat {
					at, verb = m.text(n), "refuses"
				}
				if of != flat && p.On == stubs.Tick {
					verb = "ends"
				}
			}
		})
	}
	return s, at, verb
}

// slopeOf returns how a number decides whether a condition holds: rising if it holds from some
// value of the number on, and falling if it holds up to some value.
func (a *analysis) slopeOf(c condition, of source) slope {
	if s := a.slope(c.Node, of); c.holds {
		return s
	}
	return a.slope(c.Node, of).reversed()
}

// comparesTime reports whether a condition follows a time in trouble.
func (a *analysis) comparesTime(n *ir.Node) bool {
	return slices.ContainsFunc(trouble, func(id stubs.ID) bool {
		return stubs.Catalogue[id].Type == stubs.Duration && a.slope(n, source{stub: id}) != flat
	})
}

// inTroubleBy returns how the conditions follow the stubs of trouble.
func (a *analysis) inTroubleBy(conds []condition, flag bool) (s slope) {
	by := trouble
	if !flag {
		by = by[len(crowd):]
	}
	for _, c := range conds {
		for _, id := range by {
			s = s.and(a.slopeOf(c, source{stub: id}))
		}
	}
	return s
}

// inTrouble returns the response of an effect; known is false if the effect may do anything.
func (c counting) inTrouble() (now response, known bool) {
	p := c.m.Verified.program
	a := newAnalysis(p, 0)
	a.statement(p.Root)
	now = response{by: c, way: c.direction(a)}
	if now.way == mixed {
		return now, false
	}
	flag := p.Sites[c.effect.Index].Type == stubs.Bool
	if flag && c.effect.A.Op != ir.OpConst {
		now.way, now.when = a.inTroubleBy([]condition{{c.effect.A, true}}, flag), rising
		return now, now.way != mixed
	}
	var conds []condition
	for _, part := range a.parts(conditionsOf(p.Root, c.effect)) {
		for _, cond := range part {
			if a.slope(cond.Node, source{stubs.State, c.state()}) == flat {
				conds = append(conds, cond)
			}
		}
	}
	if now.when = a.inTroubleBy(conds, flag); now.when == mixed || now.way == flat {
		now.when = flat
	}
	return now, true
}

// direction returns whether an effect raises or lowers its state; true is more than false, and a
// moment of the clock more than an earlier one. It is flat for a number that is not compared with
// the state, and mixed if the effect may do anything.
func (c counting) direction(a *analysis) slope {
	site := a.p.Sites[c.effect.Index]
	switch f := a.factor(c.bounded(a)); {
	case c.sign > 0, f > 1:
		return rising
	case c.sign < 0, f > 0 && f < 1:
		return falling
	case site.Effect != stubs.Set:
		return mixed
	case site.Type == stubs.Bool && c.effect.A.Op == ir.OpConst && c.effect.A.Imm == 0:
		return falling
	case site.Type == stubs.Bool, a.slope(c.effect.A, uptime) == rising:
		return rising
	}
	if c.effect.A.Op == ir.OpConst {
		return flat // a reset
	}
	return mixed
}

// bounded returns the value that an effect gives its state, without a constant bound around it.
func (c counting) bounded(a *analysis) *ir.Node {
	n := *c.effect
	for range 2 { // clamp has two bounds
		x := a.named(n.A)
		for x != nil && x.Op == ir.OpLet {
			x = a.named(x.B)
		}
		if _, step, _, ok := a.extreme(x); ok {
			n.A = step
		}
	}
	return &n
}

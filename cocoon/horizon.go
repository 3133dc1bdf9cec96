package cocoon

import (
	"math"
	"slices"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// The horizon of a time policy is the moment before which it can only continue, as the analyzer
// proves it: a time limit of 500 ms can do nothing to a task that has run for 20. No tick before
// the horizon is made. It goes by the policy's ways (analyzer.Way), and by where their clocks
// stand: no clock is faster than time, and none leaps towards its bound. So the moment at which the
// last clock of a way would reach its bound, if all went on, is never too late, whatever comes
// between.

// way is an analyzer.Way on one loop.
type way struct {
	clocks []clock
	fixed  []fixedValue
}

// clock is an analyzer.Clock.
type clock struct {
	stub  stubs.ID
	key   read // of task.sections
	bound int64

	sections sectionKey // in the key
}

// fixedValue is an analyzer.Fixed.
type fixedValue struct {
	read  read
	value analyzer.Fixed
}

// anyTime is a wait that was over long ago.
const anyTime = int64(math.MinInt64 / 4)

func (b *bound) newClock(c analyzer.Clock) clock {
	key := b.newRead(c.Read)
	return clock{stub: c.Read.Stub, key: key, bound: c.Bound, sections: sectionKey{c.Read.Key, key.selector}}
}

// waysOn returns the ways that there are on the loop. Those that its name or its number of slots
// shut are left out. Called with regMu held.
func (b *bound) waysOn(all []analyzer.Way) (ways []way) {
	l := b.loop
	for _, a := range all {
		w, open := way{}, true
		for _, c := range a.Clocks {
			w.clocks = append(w.clocks, b.newClock(c))
		}
		for _, f := range a.Fixed {
			r := b.newRead(f.Read)
			switch {
			case f.Read.Stub != stubs.LoopName && f.Read.Stub != stubs.LoopSlots:
				w.fixed = append(w.fixed, fixedValue{r, f})
			case r.stub == patternRead:
				open = open && f.Allows(stubs.FromBool(r.selector.selects(l.cfg.Name)))
			default:
				open = open && f.Allows(l.ofLoop(&r, 0))
			}
		}
		if open {
			ways = append(ways, w)
		}
	}
	return ways
}

// wait returns how long the policy can do nothing but continue about s, which runs: in ns, Never
// when it cannot do anything else as long as s goes on running. When it is not positive, the policy
// may have been able to do something for that long. The task is nil for a policy that is about
// none. Called under the loop's lock.
func (b *bound) wait(s *strand, now int64) (least int64) {
	v := view{task: s} // not the loop's, which may be in use
	least = notify.Never
	for i := range b.ways {
		if w := &b.ways[i]; v.fits(w) {
			if d := b.loop.waitOf(w, &v, now); d < least {
				least = d
			}
		}
	}
	return least
}

// fits reports whether what is fixed of the task leaves the way open.
func (v *view) fits(w *way) bool {
	for i := range w.fixed {
		if f := &w.fixed[i]; !f.value.Allows(v.ofTask(&f.read, 0)) {
			return false
		}
	}
	return true
}

// waitOf returns how long the last of the way's clocks takes.
func (l *Loop) waitOf(w *way, v *view, now int64) (last int64) {
	last = anyTime
	for i := range w.clocks {
		last = max(last, l.left(&w.clocks[i], v, now))
	}
	return last
}

// left returns how long the clock takes to its bound.
func (l *Loop) left(c *clock, v *view, now int64) int64 {
	switch c.stub {
	case stubs.TaskRunning:
		return c.bound - v.task.core.Ran(now)
	case stubs.RuntimeUptime:
		return c.bound - (now - l.rt.made)
	case stubs.QueueOldest:
		return c.bound - l.core.Oldest(now)
	case stubs.TaskWaited, stubs.TaskBlocked: // they stand still while the task runs; when it comes back it is looked at anew
		if left := c.bound - int64(v.ofTask(&read{stub: c.stub}, now)); left > 0 {
			return notify.Never
		}
		return anyTime
	case stubs.TaskSections, stubs.TaskSectionRunning:
		return l.leftOfSection(c, v, now)
	case stubs.TaskDeadline:
		switch at := v.task.deadline(now); {
		case at != greatest:
			return at - c.bound
		case v.task.heard.deadline == 0: // its context has not answered yet
			return anyTime
		}
		return notify.Never
	}
	return c.bound - int64(v.ofTask(&read{stub: c.stub}, now))
}

// leftOfSection returns how long a clock of the open sections takes to its bound. The innermost
// section may end at any moment, so task.section_running counts from the outermost. Of a task that
// keeps changing its sections nothing is known but how long it has run.
func (l *Loop) leftOfSection(c *clock, v *view, now int64) int64 {
	if c.stub == stubs.TaskSections && !l.rt.hasHad(c.sections) {
		return notify.Never // meets looks again when there is one
	}
	open, running := v.sections(), v.task.core.Ran(now)
	if open == nil {
		return c.bound - running
	}
	for _, o := range open {
		if c.stub == stubs.TaskSectionRunning || c.key.matches(o.name, l.rt) {
			return c.bound - (running - o.start)
		}
	}
	return c.bound
}

// mayStand reports whether a clock of the policy may stand still, below its bound, for as long as a
// task runs: that of a section that is not open, or of a queue in which no task waits. The others
// arrive at their bounds by themselves.
func mayStand(ways []way) bool {
	return slices.ContainsFunc(ways, func(w way) bool {
		return slices.ContainsFunc(w.clocks, func(c clock) bool {
			return c.stub == stubs.TaskSections || c.stub == stubs.TaskSectionRunning || c.stub == stubs.QueueOldest
		})
	})
}

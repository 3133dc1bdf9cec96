package cocoon

import (
	"math"
	"slices"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// The horizon of a time policy is the moment before which the policy can only continue, as proved
// by the analyzer: a time limit of 500 ms cannot act on a task that has run for 20. The runtime
// makes no tick before the horizon. It computes the horizon from the policy's ways (analyzer.Way)
// and from the present values of their clocks. No clock is faster than real time, and no clock
// jumps towards its bound. So the moment at which the last clock of a way would reach its bound, if
// all clocks kept running, is never too late, whatever happens in between.

// anyTime is a wait that ended long ago.
const anyTime = int64(math.MinInt64 / 4)

func (b *bound) newClock(c analyzer.Clock) clock {
	key := b.newRead(c.Read)
	return clock{stub: c.Read.Stub, key: key, bound: c.Bound, sections: sectionKey{c.Read.Key, key.selector}}
}

// waysOn returns the ways that exist on the loop. It omits ways that the loop's name or its number
// of slots rules out. Called with regMu held.
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
			case r.stub == textRead:
				open = open && f.Allows(r.ofText(l.cfg.Name))
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

// wait returns for how many ns the policy can only continue for s, which runs, or Never if it can
// only continue as long as s keeps running. If the result is not positive, the policy may have been
// able to act for that long. s is nil for a policy that refers to no task. Called under the loop's
// lock.
func (b *bound) wait(s *strand, now int64) (least int64) {
	v := view{task: s} // not the loop's view, which may be in use
	least = notify.Never
	for i := range b.ways {
		if w := &b.ways[i]; v.fits(b.loop, w) {
			if d := b.loop.waitOf(w, &v, now); d < least {
				least = d
			}
		}
	}
	return least
}

// fits reports whether the tasks' fixed values leave the way open.
func (v *view) fits(l *Loop, w *way) bool {
	for i := range w.fixed {
		if f := &w.fixed[i]; !f.value.Allows(v.ofFixed(l, &f.read)) {
			return false
		}
	}
	return true
}

// waitOf returns how long the last of the way's clocks takes to its bound.
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
	case stubs.TaskWaited, stubs.TaskBlocked: // they stand still until the task comes back, see arm
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
		case v.task.heard.deadline == 0: // its context has not been read yet
			return anyTime
		}
		return notify.Never
	}
	return c.bound - int64(v.ofTask(&read{stub: c.stub}, now))
}

// leftOfSection returns how long a clock of the open sections takes to its bound. The innermost
// section may end at any moment, so task.section_running counts from the outermost. If a task keeps
// changing its sections, only its running time is known.
func (l *Loop) leftOfSection(c *clock, v *view, now int64) int64 {
	if c.stub == stubs.TaskSections && !l.rt.hasHad(c.sections) {
		return notify.Never // meets looks again when a section has the name
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

// mayStand reports whether a clock of the policy may stand still below its bound for as long as a
// task runs. Such a clock belongs to a closed section, or to a queue in which no task waits. All
// other clocks reach their bounds by themselves.
func mayStand(ways []way) bool {
	return slices.ContainsFunc(ways, func(w way) bool {
		return slices.ContainsFunc(w.clocks, func(c clock) bool {
			return c.stub == stubs.TaskSections || c.stub == stubs.TaskSectionRunning || c.stub == stubs.QueueOldest
		})
	})
}

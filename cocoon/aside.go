package cocoon

import (
	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
)

// Standing aside. A task of a class that waits more than it runs, such as an event stream, would
// take a slot at every flush only to lose it a moment later. Instead it stands aside: it gives up
// its slot when it starts, counts as a task in an unannounced wait (absent.parked), and its Blocks
// neither give up a slot nor ask for one. This costs as much as a handler that runs inside a single
// Block.
//
// A document declares it (kind: waits), or the runtime learns it from earlier looks at tasks of the
// class. It does not learn it for tasks that a time policy may act on: a time limit should be
// exact, and the running of a task that stands aside is found only by looking.
//
// Now and then the timer looks at the tasks without a slot. A task that runs in two consecutive
// looks surfaces: it is asked for a safe point, and there it asks for a slot like any other task.

// aside reports whether the task stands aside now. It takes no lock. Called by the task's
// goroutine.
func (s *strand) aside() bool { return s.parked.Load() && (s.standsAside() || s.brisk()) }

// standAside gives up the slot that a task has just got. Called by the task's goroutine.
func (s *strand) standAside() {
	if s.parked.Load() { // see deliver
		return
	}
	l := s.loop
	l.lock()
	defer l.unlock()
	now := notify.Now()
	if s.meet(now); !s.lent.Load() {
		l.park(s, now)
	}
}

const (

	// perSweep is how many parked tasks one sweep looks at. Each costs a load and a cache miss.
	perSweep = 256

	// maxAbsentLeads is for how many tasks without a slot a sweep looks up the lead, which takes a
	// few nanoseconds each.
	maxAbsentLeads = 1024
)

// sweep looks at tasks without a slot, and returns when to look again. A parked task that runs in
// two sweeps surfaces. A task that ran and is parked now counts as blocked again. Sweeps go on
// while a task waits for a slot, and while a time policy may act on one of these tasks; the longer
// nothing changes, the rarer they are. Called by the timer, under the loop's lock.
func (l *Loop) sweep(now int64) (next int64) {
	a := &l.absent
	if a.n.Load() == 0 {
		l.sweepAt = 0
		return notify.Never
	}
	if l.sweepAt == 0 {
		if !l.contended {
			return notify.Never
		}
		l.armSweep(now)
	}
	if now < l.sweepAt {
		return l.sweepAt
	}
	moved := false
	for i := len(a.lent) - 1; i >= 0; i-- {
		if s := a.lent[i]; s.requests.Load() == 0 && s.status() == goroutine.Waiting {
			s.endGap(now)
			s.sampleWait(now)
			l.core.Block(&s.core, now)
			a.waits(s)
			moved = true
		} else if s.lent.isExtra() && now-s.core.Since() >= extraFor {
			a.endExtra(s)
			s.post(wantProbe, now)
		}
	}
	for range min(perSweep, len(a.parked)) {
		if l.nextParked--; l.nextParked < 0 || l.nextParked >= len(a.parked) {
			l.nextParked = len(a.parked) - 1
		}
		moved = l.sweepOne(a.parked[l.nextParked], now) || moved
	}
	if moved {
		l.movedAt = now
	}
	lead := int64(0)
	if !l.contended {
		if lead = l.absentLead(); lead == notify.Never {
			// Nothing depends on these tasks. A task that begins to wait for a slot wakes the
			// timer.
			l.sweepAt = 0
			return notify.Never
		}
	}
	l.sweepAt = now + max(minSweep, idleLook(now-l.movedAt, lead))
	return l.sweepAt
}

// absentLead returns the smallest lead that time policies leave a task without a slot; Never: no
// time policy can act on one. The loop's lock is held, so of very many tasks it looks at none, and
// returns the smallest lead of any task. Called under the loop's lock.
func (l *Loop) absentLead() (lead int64) {
	k := l.leads.Load()
	if k == nil {
		return notify.Never
	}
	if l.absent.n.Load() > maxAbsentLeads {
		return k.least
	}
	lead = notify.Never
	for _, list := range [][]*strand{l.absent.lent, l.absent.parked} {
		for _, s := range list {
			if lead = min(lead, k.lead(l.rt, s.task.class, s.core.Kind)); lead == k.least {
				return lead
			}
		}
	}
	return lead
}

// sweepOne looks at a parked task, and reports whether the task is awake. A crowd that wakes at
// once waits for processors. A task of it does not run yet: it neither counts as one that runs, nor
// surfaces, or the crowd would queue for slots that it needs for microseconds.
func (l *Loop) sweepOne(s *strand, now int64) bool {
	c := s.task.class
	switch st := s.status(); st {
	case goroutine.Waiting, goroutine.Syscall:
		s.ran = false
		c.seen.waiting()
		return false
	case goroutine.Ready:
		s.ran = false
		return !s.inBlock.Load()
	case goroutine.Running, goroutine.Runnable:
		if s.inBlock.Load() {
			return false
		}
		c.seen.running(now)
		if !s.ran {
			s.ran = true
		} else {
			c.brisk.found(false)
			l.surface(s, now)
			s.post(wantProbe, now)
		}
		return true
	}
	return false
}

package cocoon

import (
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// Standing aside. A task of a class that waits more than it runs, as an event stream does, would
// take a slot at every flush only to lose it a moment later. So it stands aside: it gives its slot
// up when it starts, counts as one that waits unannounced (absent.parked), and its Blocks neither
// give a slot up nor ask for one. That costs what a handler costs that is inside one Block as a
// whole.
//
// A document says so (kind: waits); or the runtime learns it, from what looks at tasks of the class
// have found, unless a time policy may do something about them: a time limit is to be exact, and
// the running of a task that stands aside is only found by looking.
//
// The timer looks at tasks without a slot now and then. One that runs in two looks in a row
// surfaces, is asked for a safe point, and asks for a slot there like any other.

// found is what looks at the tasks of a class have found. Two looks at one time may lose one.
type found struct{ runs, waits atomic.Int32 }

const (
	fewLooks  = 8    // below, nothing is learned
	manyLooks = 1024 // above, older looks count half
)

func (c *found) running() { c.runs.Add(1); c.age() }
func (c *found) waiting() { c.waits.Add(1); c.age() }

func (c *found) age() {
	if r, w := c.runs.Load(), c.waits.Load(); r+w > manyLooks {
		c.runs.Store(r / 2)
		c.waits.Store(w / 2)
	}
}

// mostlyWait reports whether most of enough looks have found a task that waits.
func (c *found) mostlyWait() bool {
	w := c.waits.Load()
	return w >= fewLooks && w > 2*c.runs.Load()
}

// standsAside reports whether the task is to run without a slot because tasks of its class mostly
// wait. It takes no lock.
func (s *strand) standsAside() bool {
	c, l := s.task.class, s.loop
	if d := c.declared.Load(); d != nil && d.waits {
		return !l.cfg.Exclusive
	}
	if !c.seen.mostlyWait() || !l.lends() {
		return false
	}
	k := l.leads.Load()
	return k == nil || k.lead(l.rt, c, s.core.Kind) == notify.Never
}

// aside reports whether the task stands aside now. It takes no lock; called by the task's
// goroutine.
func (s *strand) aside() bool { return s.parked.Load() && s.standsAside() }

// beginAside begins a Block of a task that stands aside: it has no slot to give up.
func (s *strand) beginAside() {
	s.blocked = true
	s.inBlock.Store(true) // what it does here is no running
}

func (s *strand) endAside() {
	s.inBlock.Store(false)
	s.blocked = false
}

// standAside gives up the slot of a task that has just got it. Called by the task's goroutine.
func (s *strand) standAside() {
	l := s.loop
	l.lock()
	defer l.unlock()
	now := notify.Now()
	if s.meet(now); !s.lent.Load() {
		l.park(s, now)
	}
}

// stayAside ends a Block of a task that is to stand aside from now on. Called by its goroutine.
func (s *strand) stayAside() {
	l := s.loop
	l.lock()
	l.absent.addParked(s)
	l.armSweep(notify.Now())
	l.unlock()
	s.blocked = false
	if l.wants(stubs.Unblock) {
		l.happened(s, stubs.Unblock)
	}
}

const (
	minSweep = int64(10 * time.Millisecond)
	maxSweep = int64(100 * time.Millisecond)

	// perSweep is how many parked tasks are looked at, at a time: a load and a cache miss each.
	perSweep = 256
)

// armSweep has the timer look at the tasks without a slot. Called under the loop's lock.
func (l *Loop) armSweep(now int64) {
	if l.sweepAt == 0 {
		l.sweepAt, l.sweepEvery = now+minSweep, minSweep
		l.rt.timer.WakeAt(l.sweepAt)
	}
}

// sweep looks at tasks without a slot, and returns when to look again. A parked task that runs in
// two sweeps surfaces; one that ran and is parked now counts as blocked again. While a task waits
// for a slot, or time policies are to see what runs, it looks often; when nothing moves, ten times
// a second. Called by the timer, under the loop's lock.
func (l *Loop) sweep(now int64) (next int64) {
	a := &l.absent
	if a.n.Load() == 0 {
		l.sweepAt = 0
		return notify.Never
	}
	if now < l.sweepAt {
		return l.sweepAt
	}
	moved := false
	for i := len(a.lent) - 1; i >= 0; i-- {
		if s := a.lent[i]; s.requests.Load() == 0 && goroutine.StatusOf(s.g.Load()) == goroutine.Parked {
			s.endGap(now)
			l.core.Block(&s.core, now)
			a.waits(s)
			moved = true
		}
	}
	for range min(perSweep, len(a.parked)) {
		if l.nextParked--; l.nextParked < 0 || l.nextParked >= len(a.parked) {
			l.nextParked = len(a.parked) - 1
		}
		moved = l.sweepOne(a.parked[l.nextParked], now) || moved
	}
	if l.sweepEvery = min(2*l.sweepEvery, maxSweep); moved {
		l.sweepEvery = minSweep
	}
	l.sweepAt = now + l.sweepEvery
	if !l.contended && !l.wants(stubs.Tick) {
		return notify.Never // nothing depends on what they do; who begins to wait for a slot has the timer come
	}
	return l.sweepAt
}

// sweepOne looks at a parked task, and reports whether it runs.
func (l *Loop) sweepOne(s *strand, now int64) bool {
	c := s.task.class
	switch goroutine.StatusOf(s.g.Load()) {
	case goroutine.Parked, goroutine.Syscall:
		s.ran = false
		c.seen.waiting()
		return false
	case goroutine.Running, goroutine.Runnable:
		if s.inBlock.Load() {
			return false
		}
		c.seen.running()
		if !s.ran {
			s.ran = true
		} else {
			l.surface(s, now)
			s.post(wantProbe, now)
		}
		return true
	}
	return false
}

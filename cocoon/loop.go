package cocoon

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// Loop is a queue of tasks and a number of slots: at most that many of its tasks run at once. With
// one slot it is the classic event loop: its tasks are atomic towards each other between safe
// points. All methods are safe for concurrent use.
type Loop struct {
	rt    *Runtime
	name  stubs.NameID
	cfg   LoopConfig
	first bool      // the default loop
	pool  sync.Pool // of *strand

	slots  []slot
	usable atomic.Int32 // slots that take new tasks, the first ones; written under the loop's lock

	// A task that gets a slot reads these two, see arm.go.
	leads  atomic.Pointer[leads] // nil: there are no time policies. Replaced under the lock
	tickAt atomic.Int64          // when the time policies are due; the timer fires by then

	wanted atomic.Bool // a task waits for a slot; written under the lock, see rest.go

	guard     loopLock // guards what follows, down to hub
	core      *sched.Core
	live      *strand // those with a task, a list
	closed    bool
	absent    absent // started tasks that lost their slots without giving them up
	view      view   // what policies see, filled anew for each evaluation
	guarded   bool   // a policy listens to tasks that arrive, start or exit
	busy      int64  // how often a task got a slot that was not open, or ran on without one
	contended bool   // a task waited or was suspended since the last tick

	lookAt, lookEvery int64 // when holders are looked at again, and the interval; see parked.go
	lookBusy, lentAt  int64 // busy at the last look; when a look last found a holder parked
	sweepAt, movedAt  int64 // when tasks without a slot are looked at next, 0: never; when one last changed
	nextParked        int   // the parked task that was looked at last

	usage   usage
	meter   *meter                   // nil: no policy reads what it measures
	tenants map[stubs.NameID]*tenant // that have an account

	hub   notify.Hub[*bound] // the loop's policies by event; changed and evaluated under the loop's lock
	asks  atomic.Uint32      // what to read from contexts on arrival, see heard; set under the lock
	stats loopStats
}

// newLoop makes a loop, with room for that many slots if the loop may grow later.
func newLoop(rt *Runtime, cfg LoopConfig, room int) *Loop {
	room = max(room, cfg.Slots)
	l := &Loop{
		rt: rt, name: stubs.Intern(cfg.Name), cfg: cfg,
		slots: make([]slot, room), usage: usage{asOf: notify.Now()},
	}
	l.core = sched.NewCore(sched.Config{
		Slots: room, MaxQueue: cfg.MaxQueue, MaxStarted: cfg.MaxStarted,
		MaxBypass: max(0, int64(rt.cfg.MaxBypass)),
	})
	l.core.Resize(cfg.Slots, 0)
	l.usable.Store(int32(cfg.Slots))
	l.tickAt.Store(notify.Never)
	for i := range l.slots {
		l.slots[i].holder.Store(&shut)
	}
	l.open()
	return l
}

// Name returns the loop's name; the default loop is called "default".
func (l *Loop) Name() string { return l.cfg.Name }

// seat records that s holds a slot. Called under the loop's lock, before s runs.
func (l *Loop) seat(s *strand, now int64) {
	l.slots[s.core.Slot()].holder.Store(&s.firm)
	s.runBase.Store(now - s.core.Ran(now))
	s.sampleFrom(now)
	l.busy++
	l.arm(s, now)
	if s.requests.Load() != 0 && !s.raised && s.audible() <= now {
		s.raise(now) // posted while it did not run
	}
}

// unseat records that s is about to give up slot i. Called under the loop's lock, before the core
// is told, so that the record of the slot's next holder replaces this one.
func (l *Loop) unseat(s *strand, now int64) {
	s.settlePast(now)
	s.endGap(now)
	s.quiet()
	if i := s.core.Slot(); i >= 0 && s.core.State() == sched.Running {
		l.slots[i].holder.Store(&shut)
	}
}

// deliver hands slots to the tasks to which the core has granted one. Called under the loop's lock
// after every call of the core that may free a slot.
func (l *Loop) deliver(now int64) {
	for _, t := range l.core.Granted() {
		s := t.Owner.(*strand)
		l.seat(s, now)
		if s.unseated {
			l.leftQueue(s, now)
		}
		s.token() <- struct{}{}
	}
}

// leftQueue notes that s, which has waited for its first slot, does so no more. Called under the
// loop's lock.
func (l *Loop) leftQueue(s *strand, now int64) {
	s.unseated = false
	if l.meter != nil {
		l.meter.waited(s, max(0, s.core.Since()-s.core.Arrived()), now)
	}
}

// wants reports whether some policy is evaluated on the event.
func (l *Loop) wants(e stubs.Event) bool { return len(l.hub.Listeners(uint16(e))) > 0 }

// strandOfGoroutine returns the innermost strand that the calling goroutine runs for, on any loop
// of the process, among the strands that hold a slot or have lent it. It returns nil if there is
// none.
func strandOfGoroutine() *strand { return strandOn(goroutine.ID()) }

// strandOn returns the innermost strand that runs on the goroutine, or nil.
func strandOn(g uintptr) (innermost *strand) {
	// Of two nested strands the inner one got its slot later and has run for a shorter time, so its
	// base is later.
	consider := func(s *strand) {
		if s != nil && s.g.Load() == g && (innermost == nil || s.runBase.Load() > innermost.runBase.Load()) {
			innermost = s
		}
	}
	for _, rt := range *runtimes.Load() {
		for _, l := range *rt.loops.Load() {
			for i := range l.slots {
				if c := l.slots[i].holder.Load(); c != nil {
					consider(c.strand)
				}
			}
			if l.absent.n.Load() > 0 {
				l.lock()
				for s := l.absent.byG[g]; s != nil; s = s.sameG {
					consider(s)
				}
				l.unlock()
			}
		}
	}
	return innermost
}

// Hold keeps new tasks of the loop from starting until Release has been called as often as Hold.
// Tasks that have started go on. An application calls Hold when it runs out of a resource (the
// component model's backpressure counter).
func (l *Loop) Hold() {
	l.lockAll()
	defer l.unlock()
	l.core.Hold()
}

// Release undoes one Hold. A Release without a Hold panics.
func (l *Loop) Release() {
	l.lockAll()
	defer l.unlock()
	now := notify.Now()
	if l.core.Load(now).Holds == 0 {
		panic(fmt.Sprintf("cocoon: loop %q: Release without Hold", l.cfg.Name))
	}
	l.core.Release(now)
	l.deliver(now)
}

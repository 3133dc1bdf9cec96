package cocoon

import (
	"fmt"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
)

// lock takes the lock. Tasks in open slots stay unknown, and may start and end meanwhile: see
// open.go.
func (l *Loop) lock() {
	if !l.tryLock() {
		l.guard.wait()
		l.guard.owner.Store(goroutine.ID())
	}
}

// tryLock takes the lock if it is free.
func (l *Loop) tryLock() bool {
	if underRace {
		l.checkOrder()
	}
	if !l.guard.mu.TryLock() {
		return false
	}
	l.guard.owner.Store(goroutine.ID())
	return true
}

// lockAll takes the lock and gathers, so that the caller sees every task of the loop, including its
// own among the running ones.
func (l *Loop) lockAll() {
	l.lock()
	l.gather()
	if len(l.absent.parked) > 0 {
		for s := l.absent.byG[goroutine.ID()]; s != nil; s = s.sameG {
			if s.parked.Load() {
				l.surface(s, notify.Now())
			}
		}
	}
}

// unlock records whether a task waits, opens the slots that may be open, and releases the lock.
// While a task waits no slot may be open, and the check takes a few nanoseconds, so there is no
// second way out that leaves slots shut.
func (l *Loop) unlock() {
	l.noteWaiters()
	l.open()
	l.guard.owner.Store(0)
	l.guard.mu.Unlock()
}

// holdsLock reports whether the calling goroutine holds the lock of any loop.
func holdsLock() bool { return lockedLoop() != nil }

// lockedLoop returns the loop with the lock that the calling goroutine holds, or nil.
func lockedLoop() *Loop {
	g := goroutine.ID()
	for _, rt := range *runtimes.Load() {
		for _, l := range *rt.loops.Load() {
			if l.guard.owner.Load() == g {
				return l
			}
		}
	}
	return nil
}

// checkOrder panics if the calling goroutine, which is about to lock l, holds a loop's lock
// already. Two goroutines that each held one loop's lock and waited for the other's would wait
// without end.
func (l *Loop) checkOrder() {
	if held := lockedLoop(); held != nil {
		panic(fmt.Sprintf("cocoon: the lock of loop %q is taken under the lock of loop %q", l.cfg.Name, held.cfg.Name))
	}
}

// gather shuts all open slots, makes the tasks in them known, and takes the slots of resting tasks.
// Called under the loop's lock.
func (l *Loop) gather() {
	l.adopt()
	l.takeRests(len(l.slots), true, 0)
}

// gatherOne shuts one open slot if the slot is free. If there is none, it shuts all open slots,
// because a task may have to wait. If then no slot is free, it takes the slot of a resting task.
// Called under the loop's lock.
func (l *Loop) gatherOne(now int64) {
	for i := range l.slots {
		if l.slots[i].holder.Load() == nil && l.shut(i) {
			return
		}
	}
	if l.adopt(); l.core.Full() {
		l.takeRests(1, false, now)
	}
}

// meet makes the calling task known if the task took an open slot, and records that the task runs
// if it counted as waiting. Called under the loop's lock by the task's goroutine.
func (s *strand) meet(now int64) {
	if s.inOpenSlot() {
		s.loop.shut(int(s.at))
	}
	if s.parked.Load() {
		s.loop.surface(s, now)
	}
	s.settlePast(now)
}

package cocoon

import (
	"sync"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
)

// loopLock is a loop's lock, which guards the fields that say so. There are two ways in and one way
// out: lock, lockAll and unlock. No other code touches the mutex (TestLoopLockHasFewWaysIn). User
// code never runs under it.
type loopLock struct {
	mu sync.Mutex

	// The goroutines that wait for the lock, as far as there is room. A holder of a slot that is
	// among them is parked, and does not wait unannounced.
	waiters [16]atomic.Uintptr

	// owner is the goroutine that holds the lock. In programs of cocoon build, functions of the
	// standard library that run under the lock have polls, and these must do nothing: see answer.
	owner atomic.Uintptr
}

// lock takes the lock. Tasks in open slots stay unknown, and may come and go meanwhile: see
// open.go.
func (l *Loop) lock() {
	if !l.guard.mu.TryLock() {
		l.guard.wait()
	}
	l.guard.owner.Store(goroutine.ID())
}

func (k *loopLock) wait() {
	g := goroutine.ID()
	for i := range k.waiters {
		if w := &k.waiters[i]; w.Load() == 0 && w.CompareAndSwap(0, g) {
			k.mu.Lock()
			w.Store(0)
			return
		}
	}
	k.mu.Lock()
}

// waitedFor reports whether the goroutine waits for the lock. Called under the lock.
func (k *loopLock) waitedFor(g uintptr) bool {
	for i := range k.waiters {
		if k.waiters[i].Load() == g {
			return true
		}
	}
	return false
}

// lockAll takes the lock and gathers, so that the caller sees every task of the loop; its own among
// those that run.
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

// unlock notes whether a task waits, opens the slots that may be open, and gives the lock back.
// While a task waits none may be, and the check is a few nanoseconds; so there is no second way out
// that leaves slots shut.
func (l *Loop) unlock() {
	l.noteWaiters()
	l.open()
	l.guard.owner.Store(0)
	l.guard.mu.Unlock()
}

// holdsLock reports whether the calling goroutine holds the lock of some loop.
func holdsLock() bool {
	g := goroutine.ID()
	for _, rt := range *runtimes.Load() {
		for _, l := range *rt.loops.Load() {
			if l.guard.owner.Load() == g {
				return true
			}
		}
	}
	return false
}

package cocoon

import (
	"sync"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
)

// loopLock is a loop's lock. The comments of fields say which of them it guards. Only lock, lockAll
// and unlock touch the mutex (TestLoopLockHasFewWaysIn).
//
// The order of locks is Runtime.loadMu, Runtime.regMu, a loop's lock, and then locks under which no
// other lock is taken: the locks of steps, of the log, of a sample and the like. Functions that
// must be called under the loop's lock, or with all tasks in slots known (lockAll), say so.
//
// Under it code may evaluate policies, post requests, record a need of heat, queue log lines and
// set the timer. It must not run code of the application (the methods of contexts, safe functions,
// the Logger, labels), end a context, stop the world, unwind, or wait for a slot.
type loopLock struct {
	mu sync.Mutex

	// The goroutines that wait for the lock, as far as there is room. If the holder of a slot is
	// among them, it is parked, but it is not in an unannounced wait.
	waiters [16]atomic.Uintptr

	// owner is the goroutine that holds the lock. In programs of cocoon build, functions of the
	// standard library that run under the lock contain polls, which must do nothing then: see
	// answer.
	owner atomic.Uintptr
}

// lock takes the lock. Tasks in open slots stay unknown, and may start and end meanwhile: see
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

package cocoon

import (
	"sync"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/goroutine"
)

// loopLock is a loop's lock. The comments of fields say which of them it guards. Only lock and
// unlock in lock.go, and wait below, touch the mutex (TestLoopLockHasFewWaysIn).
//
// The order of locks is Runtime.loadMu, Runtime.regMu, a loop's lock, and then locks under which no
// other lock is taken: the locks of steps, of the log, of a sample and the like. No goroutine holds
// the locks of two loops. Code that concerns several loops locks one after the other. With the race
// detector, lock panics if its caller holds a loop's lock (TestOneLoopLockAtATime). Functions that
// must be called under the loop's lock, or with all tasks in slots known (lockAll), say so.
//
// Code under a loop's lock may evaluate policies, post requests, add decisions to the stream,
// record that the runtime should become hot (see heat), queue log lines, set the timer, and start a
// goroutine that does the rest without the lock (see errands). It must not run code of the
// application (the methods of contexts, safe functions, the Logger), end a context, write a file,
// stop the world, unwind, or wait for a slot.
type loopLock struct {
	mu sync.Mutex

	// The goroutines that wait for the lock, as far as there is room. If the holder of a slot is
	// among them, its goroutine waits, but the task is not in an unannounced wait.
	waiters [16]atomic.Uintptr

	// owner is the goroutine that holds the lock. In programs of cocoon build, functions of the
	// standard library that run under the lock contain polls, which must do nothing then: see
	// answer.
	owner atomic.Uintptr
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

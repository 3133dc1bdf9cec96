package cocoon

import "sync"

// loopLock is a loop's lock, which guards the fields that say "guarded by mu". There are two ways in and one way out: lock,
// lockAll and unlock. No other code touches the mutex (TestLoopLockHasFewWaysIn). User code never runs under it.
type loopLock struct{ mu sync.Mutex }

// lock takes the lock. Tasks in open slots stay unknown, and may come and go meanwhile: see open.go.
func (l *Loop) lock() { l.guard.mu.Lock() }

// lockAll takes the lock and gathers, so that the caller sees every task of the loop.
func (l *Loop) lockAll() {
	l.lock()
	l.gather()
}

// unlock opens the slots that may be open, and gives the lock back. While a task waits none may be, and the check is a few
// nanoseconds; so there is no second way out that leaves slots shut.
func (l *Loop) unlock() {
	l.open()
	l.guard.mu.Unlock()
}

package notify

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// From linux/futex.h.
const (
	futexWake       = 1
	futexWaitBitset = 9
	futexPrivate    = 128
	futexAnyBit     = 1<<32 - 1
)

// shortestSlice is the shortest time slice that a thread may ask for (Linux 6.12 and later).
const shortestSlice = uint64(100 * time.Microsecond)

// longest bounds one system call's sleep, so that no deadline overflows the kernel's time, of 32
// bits on some machines.
const longest = int64(time.Hour)

// futexSleeper sleeps by futex: the one call that sleeps to an absolute time, ends early when it is
// told to, and does not begin when it was told to already.
type futexSleeper struct {
	until  unix.Timespec // here, not on the stack, which may move while the kernel reads it
	thread atomic.Int64  // its id, for onThread
}

func newSleeper() sleeper { return new(futexSleeper) }

// enter prepares the calling thread. By default the kernel lets a sleep last 50 µs longer, to wake
// several threads at once; and a thread that wakes on a busy core waits for the end of another's
// slice, unless its own is shorter. The settings are the thread's own, and threads it would start
// are started by another (runtime.LockOSThread).
func (s *futexSleeper) enter() {
	s.thread.Store(int64(unix.Gettid()))
	// Refused (by a seccomp filter, say) they cost punctuality and nothing else.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	if attr, err := unix.SchedGetAttr(0, 0); err == nil && (attr.Policy == unix.SCHED_NORMAL || attr.Policy == unix.SCHED_BATCH) {
		attr.Runtime, attr.Deadline, attr.Period = shortestSlice, 0, 0
		_ = unix.SchedSetAttr(0, attr, 0)
	}
}

// leave forgets the thread: its id may soon be another's.
func (s *futexSleeper) leave() { s.thread.Store(0) }

func (s *futexSleeper) onThread() bool { return s.thread.Load() == int64(unix.Gettid()) }

func (s *futexSleeper) sleep(state *atomic.Uint32, at, now int64) {
	s.until = unix.NsecToTimespec(monotonicBase + min(at, now+longest))
	// Syscall6, not RawSyscall6, though the latter saves a third of a 100 µs tick's cost: a raw
	// call holds its P for good, so a poller short of one waits for 18 ms, and under
	// GODEBUG=asyncpreemptoff=1 each stop of the world lasts until the sleep is over. Nor is the
	// goroutine to yield now and then, which saves as much: with more goroutines busy than there
	// are Ps it then queues behind them, and most ticks are lost.
	//
	// Whatever the result (woken, timed out, state changed, interrupted), the caller looks at its
	// words again.
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(state)), futexWaitBitset|futexPrivate, uintptr(asleep),
		uintptr(unsafe.Pointer(&s.until)), 0, futexAnyBit)
}

// wake does not block, so the scheduler need not hear of the call.
func (s *futexSleeper) wake(state *atomic.Uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(state)), futexWake|futexPrivate, 1, 0, 0, 0)
}

// monotonicBase is CLOCK_MONOTONIC at Now() == 0. Both run on the same clock, so one reading fixes
// it; the best of a few keeps an interruption between the two calls out.
var monotonicBase = func() int64 {
	best, offset := int64(Never), int64(0)
	for range 8 {
		before := Now()
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			panic("notify: the monotonic clock cannot be read: " + err.Error())
		}
		after := Now()
		if width := after - before; width < best {
			// The later of the two, so that a sleep that ran its time is never found to be early.
			best, offset = width, ts.Nano()-before
		}
	}
	return offset
}()

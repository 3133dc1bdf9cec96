package notify

import (
	"runtime"
	"sync/atomic"
	"syscall"
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

// longest limits the sleep of one system call, so that no deadline overflows the kernel's time,
// which has 32 bits on some machines.
const longest = int64(time.Hour)

// passOn is the shortest sleep before which the thread passes its P on. While the process has work
// for all Ps, sysmon takes the P of a thread that sleeps longer, and then looks every 20 µs for a
// millisecond. With a sleep a millisecond, it never ceased, and used 10 to 15 % of a core. In a
// shorter sleep the thread mostly keeps its P, and need not wait for one afterwards.
const passOn = int64(300 * time.Microsecond)

// futexSleeper sleeps by futex, the one call that sleeps to an absolute time, ends early when it is
// woken, and does not begin if it was woken already.
type futexSleeper struct {
	until unix.Timespec // not on the stack, which may move while the kernel reads it
}

func newSleeper() sleeper { return new(futexSleeper) }

// enter gives the calling goroutine a thread, and prepares it. By default the kernel lets a sleep
// last 50 µs longer, to wake several threads at once; and a thread that wakes on a busy core waits
// for the end of another thread's slice, unless its own slice is shorter. The settings apply only
// to this thread, because Go starts new threads from a different one (runtime.LockOSThread).
func (s *futexSleeper) enter() {
	runtime.LockOSThread()
	// If they are refused (for example by a seccomp filter), only punctuality suffers.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	if attr, err := unix.SchedGetAttr(0, 0); err == nil && (attr.Policy == unix.SCHED_NORMAL || attr.Policy == unix.SCHED_BATCH) {
		attr.Runtime, attr.Deadline, attr.Period = shortestSlice, 0, 0
		_ = unix.SchedSetAttr(0, attr, 0)
	}
}

func (s *futexSleeper) leave() {}

func (s *futexSleeper) sleep(state *atomic.Uint32, at, now int64) {
	s.until = unix.NsecToTimespec(monotonicBase + min(at, now+longest))
	if at-now >= passOn {
		s.sleepWithoutP(state)
		return
	}
	// Syscall6, not RawSyscall6, although the latter saves a third of the cost of a 100 µs tick: a
	// raw call keeps its P for its whole duration, so a poller that lacks a P waits for 18 ms, and
	// under GODEBUG=asyncpreemptoff=1 each stop of the world lasts until the end of the sleep.
	// Yielding now and then, which saves as much, is not an alternative: if more goroutines are
	// busy than there are Ps, the goroutine queues behind them, and most ticks are lost.
	//
	// Whatever the result (woken, timed out, state changed, interrupted), the caller reads its
	// words again.
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(state)), futexWaitBitset|futexPrivate, uintptr(asleep),
		uintptr(unsafe.Pointer(&s.until)), 0, futexAnyBit)
}

// sleepWithoutP sleeps like a system call that Go knows to block: the P passes to another thread
// before the sleep, and not when sysmon takes it. It has the form of syscall.Syscall6, because the
// stack must not grow between the two calls, and nothing may be instrumented there.
//
//go:nosplit
//go:norace
func (s *futexSleeper) sleepWithoutP(state *atomic.Uint32) {
	enterBlocked()
	syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(state)), futexWaitBitset|futexPrivate, uintptr(asleep),
		uintptr(unsafe.Pointer(&s.until)), 0, futexAnyBit)
	exitBlocked()
}

// The Go runtime keeps both names stable for linkname users.
//
//go:linkname enterBlocked runtime.entersyscallblock
func enterBlocked()

//go:linkname exitBlocked runtime.exitsyscall
func exitBlocked()

// wake does not block, so it can bypass the scheduler.
func (s *futexSleeper) wake(state *atomic.Uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(state)), futexWake|futexPrivate, 1, 0, 0, 0)
}

// monotonicBase is CLOCK_MONOTONIC at Now() == 0. Both are the same clock with a fixed offset, so
// one reading determines it. The best of several readings is used, in case a reading is interrupted
// between the two calls.
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
			// The later bound, so that a sleep that ran its full time is never too early.
			best, offset = width, ts.Nano()-before
		}
	}
	return offset
}()
